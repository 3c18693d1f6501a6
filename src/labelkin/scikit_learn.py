"""Helpers for estimators, and the only imports of private functions of scikit-learn.

``make test-scikit-learn`` tests them on the lowest and on the newest version.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils._metadata_requests import _raise_for_params
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.sparsefuncs_fast import inplace_csr_row_normalize_l2
from sklearn.utils.validation import (
    _check_method_params,
    _check_sample_weight,
    has_fit_parameter,
    validate_data,
)

from labelkin.validation import validate_sparse


def read_numbers(estimator: Any, X: Any, reset: bool) -> Any:
    """Return documents as float64, dense or CSR, after the checks of scikit-learn.

    Single texts as CSR arrays take a tenth of the time of ``validate_data``.
    """
    if (
        not reset
        and sparse.issparse(validate_sparse(X))
        and X.format == "csr"
        and X.dtype.kind in "iuf"
        and X.ndim == 2
        and X.shape[0]
        and X.shape[1] == getattr(estimator, "n_features_in_", None)
        and not hasattr(estimator, "feature_names_in_")
        and not get_config()["assume_finite"]
    ):
        with np.errstate(over="ignore", invalid="ignore"):
            is_finite = np.isfinite(X.data.sum())  # not if finite values overflow: validated below
        if is_finite:
            return X.astype(np.float64, copy=False)
    return validate_data(
        estimator, validate_sparse(X), accept_sparse="csr", dtype=np.float64, reset=reset
    )


def unit_length(rows: Any) -> Any:
    """Scale the rows of a CSR matrix to length 1, in place."""
    inplace_csr_row_normalize_l2(rows)
    return rows


def rows_of(X: Any, index: NDArray[np.int64]) -> Any:
    """Return some documents of an array, sparse matrix, DataFrame or list."""
    return X.tocsr()[index] if sparse.issparse(X) else _safe_indexing(X, index)


def n_rows(X: Any) -> int:
    """Return the number of documents, also of a list of texts."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def params_of_rows(X: Any, params: Mapping[str, Any], index: NDArray[np.int64]) -> dict[str, Any]:
    """Return fit parameters for some documents: the rows of those with a value per document."""
    return _check_method_params(X, params, index)


def read_sample_weight(X: Any, sample_weight: Any) -> NDArray[np.float64] | None:
    """Return weights of at least 0, ``(n_documents,)``."""
    if sample_weight is None:
        return None
    return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)


def check_metadata(estimator: Any, metadata: Mapping[str, Any], *accepted: str) -> None:
    """Raise for metadata that ``fit`` does not accept."""
    unknown = sorted(metadata.keys() - set(accepted))
    if unknown:
        name = type(estimator).__name__
        raise TypeError(f"{name}.fit accepts {' and '.join(accepted)}, got {unknown[0]!r}.")


def router(owner: Any, **parts: Any) -> MetadataRouter:
    """Return a router of ``fit`` metadata to the parts and of ``known`` to the owner.

    ``groups`` is routed to the splitter, if ``cv`` of the owner is one.
    """
    mapping = MethodMapping().add(caller="fit", callee="fit")
    routed = MetadataRouter(owner=owner).add_self_request(owner)
    splitter = getattr(owner, "cv", None)
    if hasattr(splitter, "get_metadata_routing"):
        to_split = MethodMapping().add(caller="fit", callee="split")
        routed.add(splitter=splitter, method_mapping=to_split)
    return routed.add(**parts, method_mapping=mapping)


def route_fit(owner: Any, fit_params: Mapping[str, Any], **parts: Any) -> dict[str, dict[str, Any]]:
    """Return the ``fit`` parameters of each part.

    With metadata routing enabled, scikit-learn's rules apply. Without it, ``sample_weight`` is
    passed to all parts, which must support it, and ``groups`` to the splitter: ``cv`` of the owner
    or of its content classifier.
    """
    if not fit_params:
        return {name: {} for name in parts}
    is_plain = set(fit_params) <= {"sample_weight", "groups"}
    if not get_config()["enable_metadata_routing"] and is_plain:
        weight = {name: value for name, value in fit_params.items() if name != "groups"}
        routed = {name: dict(weight) for name in parts}
        if "groups" in fit_params and isinstance(getattr(owner, "cv", None), Integral | None):
            if not hasattr(parts.get("content"), "cv"):
                raise TypeError(
                    f"groups must be used by a splitter, and {type(owner).__name__} has none. Use "
                    "RescoredClassifier(estimator, cv=GroupKFold())."
                )
            routed["content"]["groups"] = fit_params["groups"]
        for name, part in parts.items() if weight else ():
            if not takes_sample_weight(part):
                raise TypeError(
                    f"sample_weight must be taken by all parts of {type(owner).__name__}, and "
                    f"{name}={part!r:.60} does not take it. Use a part that does, or "
                    "sklearn.set_config(enable_metadata_routing=True) and set_fit_request."
                )
        return routed
    _raise_for_params(fit_params, owner, "fit")
    by_rules = process_routing(owner, "fit", **fit_params)
    return {name: dict(by_rules[name].fit) for name in parts}


def takes_sample_weight(estimator: Any) -> bool:
    """Return whether ``fit`` supports weights: as an argument, as metadata, or of an inner part."""
    if has_fit_parameter(estimator, "sample_weight"):
        return True
    request = getattr(estimator.get_metadata_routing(), "fit", None)
    if "sample_weight" in getattr(request, "requests", ()):
        return True
    inner = getattr(estimator, "estimator", None)
    return inner is not None and takes_sample_weight(inner)


def with_random_state(estimator: Any, random_state: Any) -> Any:
    """Return a clone whose own and inner random states that are ``None`` are set.

    An integer seed is passed unchanged; a generator draws one seed.
    """
    made = clone(estimator)
    if random_state is None:
        return made
    unset = [
        name
        for name, value in sorted(made.get_params().items())
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    ]
    if unset:
        is_seed = isinstance(random_state, int | np.integer)
        seed = random_state if is_seed else check_random_state(random_state).randint(2**31 - 1)
        made.set_params(**dict.fromkeys(unset, seed))
    return made
