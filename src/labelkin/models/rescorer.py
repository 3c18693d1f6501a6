"""Label evidence for the scores of any classifier."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from labelkin.explain.contributions import Explanation, Posterior
from labelkin.label_matrix import (
    Cells,
    Scale,
    read_candidates,
    read_known,
    read_labels,
    read_scores,
    to_dense,
)
from labelkin.learned.fitting import (
    EvidenceWeight,
    Variant,
    cross_fitted_posterior,
    fit_combination,
    fit_counted_combination,
    is_auto,
    learns_weight,
)
from labelkin.learned.terms import PaperEvidence, Part
from labelkin.method.combination import Matrix
from labelkin.method.label_evidence import as_label_classifier
from labelkin.method.label_sets import LabelSets, count_label_sets
from labelkin.models.in_sample import warn_if_in_sample
from labelkin.odds import to_log_odds, to_probability
from labelkin.validation import check_choice

if TYPE_CHECKING:
    from labelkin.scaling.blocks import Engine
    from labelkin.vocabulary.rules import Rules

#: Cells of a dense block of candidates, for known labels and rules.
_CELLS = 2**22
#: Log-odds of labels outside the candidates when rules are applied.
_IMPROBABLE = -20.0


class LabelRescorer(BaseEstimator):
    """Label evidence for score matrices of any classifier.

    Parameters
    ----------
    labels : label classifier, scikit-learn classifier or name, optional
        :class:`LogisticLabels` (default, ``"logistic"``), :class:`SVMLabels` (``"svm"``), or any
        scikit-learn classifier with ``predict_proba``, fitted per label on the other columns.
    variant : "soft", "hard" or threshold rule, default "soft"
        Values of the other labels: ``"soft"``, their probabilities (the paper's M2); ``"hard"``, 0
        and 1 (M1); a threshold rule such as ``SCutFBR()``, its decisions (M1 with learned
        cut-offs).
    evidence_weight : float, "auto" or LearnedWeight, default "auto"
        Weight of the evidence from predicted labels: 1 is the paper, 0 leaves the scores
        unchanged. ``"auto"`` or a :class:`LearnedWeight` learns it from out-of-fold ``scores``;
        without scores ``"auto"`` warns and is 0.1.
    scale : "probability" or "log_odds", default "probability"
        Scale of scores and results.
    clip : float, default 1e-6
        Probabilities are clipped to [``clip``, ``1 - clip``].
    rules : Rules, optional
        :class:`labelkin.Rules` between labels, applied to the posterior.
    known_weight : float, optional
        Weight of known labels. Default: the evidence weight if that is a number; otherwise 0.75,
        or 0.1 for label classifiers that are not linear. 1 is the paper.

    Attributes
    ----------
    label_names_ : array of shape (n_labels,)
    combination_ : Combination
        The fitted rule.
    label_sets_ : LabelSets
        The counted label sets of the training documents.
    rules_ : BoundRules or None

    Examples
    --------
    A classifier is certain of wheat and undecided about grain, which occurs with wheat:

    >>> Y = [["wheat", "grain"], ["wheat", "grain"], ["grain"], ["gold"], ["gold"], []]
    >>> LabelRescorer(evidence_weight=1).fit(Y).rescore([[0.1, 0.5, 0.9]]).round(2).tolist()
    [[0.08, 0.65, 0.93]]
    """

    def __init__(
        self,
        labels: Any = None,
        *,
        variant: Variant = "soft",
        evidence_weight: EvidenceWeight = "auto",
        scale: Scale = "probability",
        clip: float = 1e-6,
        rules: Rules | None = None,
        known_weight: float | None = None,
    ) -> None:
        self.labels = labels
        self.variant = variant
        self.evidence_weight = evidence_weight
        self.scale = scale
        self.clip = clip
        self.rules = rules
        self.known_weight = known_weight

    def fit(
        self, Y: Any, *, scores: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit label evidence.

        Parameters
        ----------
        Y : any kind of labels
            Labels of the training documents.
        scores : array or sparse matrix of shape (n_documents, n_labels), optional
            Out-of-fold scores of the training documents, or of their candidates. The evidence
            weight and cut-offs are learned from them. In-sample scores cause a warning if they are
            detected.
        sample_weight : array of shape (n_documents,), optional
            Weights of the documents; the label classifier must support them.

        Returns
        -------
        self
        """
        self._fit(Y, scores, sample_weight, is_given=True)
        self._warn_without(scores)
        return self

    def _warn_without(self, scores: Any = None) -> None:
        if scores is None and is_auto(self.evidence_weight):
            warnings.warn(
                "Without out-of-fold scores of the training documents the evidence weight cannot "
                f"be learned, so it is {self.evidence_weight_:g}. Use fit(Y, scores=...) "
                "(--out-of-fold in a command), RescoredClassifier, or set evidence_weight (1 is "
                "the paper).",
                stacklevel=3,
            )

    def fit_blocks(
        self,
        blocks: Iterable[Any],
        *,
        classes: Sequence[Any] | None = None,
        engine: Engine | None = None,
    ) -> Self:
        """Fit label evidence on blocks of documents, one at a time.

        The result equals :meth:`fit` on all documents. Memory holds a block and the distinct label
        sets. Weights and cut-offs cannot be learned from blocks.

        Parameters
        ----------
        blocks : iterable of any kind of labels
            Labels of the training documents; label matrices with the same columns, or paths of
            files (:func:`labelkin.scaling.blocks.read_block`); a Dask collection with an engine.
        classes : sequence, optional
            All labels; required for blocks of label sets in which not every label occurs.
        engine : Local or OnDask, optional
            Where blocks are counted and labels fitted; default this process, or the engine in use
            (:func:`labelkin.scaling.distributed.using`).

        Returns
        -------
        self
        """
        from labelkin.scaling.distributed import using

        check_choice("scale", self.scale, Scale)
        classifier = as_label_classifier(self.labels)
        is_fixed = is_auto(self.evidence_weight) or not learns_weight(self.evidence_weight)
        is_counted = self.variant in ("soft", "hard") and hasattr(classifier, "fit_counted")
        if not (is_fixed and is_counted):
            raise ValueError(
                "fit_blocks requires LogisticLabels or SVMLabels, a fixed weight and the variant "
                f"'soft' or 'hard', got labels={self.labels!r:.40}, variant={self.variant!r:.40}, "
                f"evidence_weight={self.evidence_weight!r:.40}. Use fit(Y, scores=...)."
            )
        with using(engine) as worker:
            counted = worker.fold(_count_block, _add_counts, blocks, classes=classes)
            self.label_names_, self.label_sets_ = counted
            self.rules_ = _bind_rules(self.rules, self.label_names_)
            self.combination_ = fit_counted_combination(
                classifier,
                self.label_sets_,
                self.label_names_,
                self.variant,
                self.evidence_weight,
                self.known_weight,
            )
        self._warn_without()
        return self

    def fit_out_of_fold(
        self, Y: Any, *, scores: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Matrix:
        """Fit, and return the out-of-fold posterior of the training documents.

        Parameters
        ----------
        Y : any kind of labels
            Labels of the training documents.
        scores : array or sparse matrix of shape (n_documents, n_labels)
            Out-of-fold scores of the training documents.
        sample_weight : array of shape (n_documents,), optional
            Weights of the documents.

        Returns
        -------
        array or CSR array of shape (n_documents, n_labels)
            The posterior, on the scale of the scores.
        """
        self._fit(Y, scores, sample_weight, is_given=True)
        return self._cross_fitted(Y, scores, sample_weight)

    def _cross_fitted(self, Y: Any, scores: Any, sample_weight: Any = None) -> Any:
        """Return the posterior of the training documents with label evidence out of fold."""
        content, weight = self._read_scores(scores), _read_weight(sample_weight)
        classifier = as_label_classifier(self.labels)
        posterior = cross_fitted_posterior(
            classifier, self.variant, self.evidence_weight, read_labels(Y), content, weight
        )
        if not sparse.issparse(posterior) and self.rules_ is not None:
            posterior = self.rules_.posterior(posterior)
        return self._to_scale(posterior)

    def rescore(self, scores: ArrayLike | Any, known: Any = None) -> Any:
        """Return the posterior on the scale of the scores, ``(n_documents, n_labels)``.

        Parameters
        ----------
        scores : array or sparse matrix of shape (n_documents, n_labels)
            Content evidence, columns in the order of ``label_names_``. The stored labels of a
            sparse matrix are candidates; others are rejected.
        known : known labels, optional
            See :func:`labelkin.label_matrix.read_known`. A known label's posterior is 1 or 0 (±inf
            as log-odds), and the posterior of the other labels changes.

        Returns
        -------
        array of shape (n_documents, n_labels)
            Or, for sparse scores, a CSR array with the same stored cells.
        """
        check_is_fitted(self)
        content = self._read_scores(scores)
        return self._to_scale(self._posterior(content, known))

    def _posterior(self, content: Any, known: Any = None, out: Any = None) -> Any:
        """Return the posterior log-odds given validated content log-odds, dense or candidates."""
        if sparse.issparse(content):
            return self._posterior_of_candidates(content, known)
        complete = None if known is None else self._read_known(known, len(content))
        return self._keep_rules(self.combination_.posterior(content, complete, out))

    def posterior(self, scores: ArrayLike, known: Any = None) -> Posterior:
        """Return the posterior with suggestions and explanations.

        For many documents :meth:`rescore` uses less memory.

        Parameters
        ----------
        scores : array or sparse matrix of shape (n_documents, n_labels)
            Scores on the ``scale`` of the rescorer.
        known : known labels, optional
            As in :meth:`rescore`.

        Returns
        -------
        Posterior
        """
        check_is_fitted(self)
        given = self._read_scores(scores)
        content = to_dense(given)
        candidates = Cells.of(given).dense(np.ones(given.nnz)) > 0 if given is not content else None
        complete = self._read_known(known, len(content))
        before, parts = self.combination_.decompose(content, complete)
        if candidates is None:
            after = self._keep_rules(before)
        else:
            after = self._keep_rules_of_rows(before, content, complete)
        if self.rules_ is not None:
            moved = np.zeros_like(before)
            np.subtract(after, before, out=moved, where=np.isfinite(before) & (after != before))
            parts = [*parts, Part("rules", moved)]
        return Posterior(self.label_names_, after, content, complete, parts, candidates=candidates)

    def explain(
        self, scores: ArrayLike, top: int = 10, known: Any = None, label_names: Any = None
    ) -> list[list[Explanation]]:
        """Return explanations of the best labels of each document, or of ``label_names``.

        The parts of an :class:`Explanation` are log-odds and add up to those of the posterior.

        Parameters
        ----------
        scores : array or sparse matrix of shape (n_documents, n_labels)
            The scores to start from, on the ``scale`` of the rescorer.
        top : int, default 10
            Maximum number of labels per document, known labels excluded.
        known : dict, matrix or None, default None
            What is known of their labels, as :meth:`rescore` takes it; ``None``: nothing.
        label_names : sequence or None, default None
            Labels to explain instead of the best ones.

        Returns
        -------
        list of lists of Explanation
        """
        return self.posterior(scores, known).explain(top, label_names)

    def learn_more(self, Y: Any) -> LabelRescorer:
        """Return a copy with label evidence fitted on further documents also.

        Counted label sets are added, so that earlier documents are not needed. The learned weight
        and correction stay the same.

        Parameters
        ----------
        Y : any kind of labels
            Labels of the further documents, among ``label_names_``, or a matrix with its columns.

        Returns
        -------
        LabelRescorer
        """
        check_is_fitted(self)
        if not hasattr(self.labels_, "fit_counted"):
            raise ValueError(
                "learn_more requires LogisticLabels or SVMLabels, got "
                f"{type(self.labels_).__name__}. Fit on all documents instead."
            )
        result = copy(self)
        result.label_sets_ = self.label_sets_.merge(
            count_label_sets(read_labels(Y, names=self.label_names_))
        )
        paper = PaperEvidence.fit_counted(self.labels_, result.label_sets_, self.label_names_)
        result.combination_ = self.combination_.with_evidence(paper)
        return result

    @property
    def prior_(self) -> Matrix:
        """p(label), ``(n_labels,)``."""
        return self.combination_.predicted.paper.prior

    @property
    def labels_(self) -> Any:
        """The fitted label classifier."""
        return self.combination_.predicted.paper.labels

    @property
    def evidence_weight_(self) -> float:
        """Weight of the paper's label evidence from predicted labels."""
        return self.combination_.predicted.weight

    @property
    def label_weights_(self) -> Matrix | None:
        """Weights ``[k, j]`` of label k for label j in the paper; ``None`` if not linear."""
        return getattr(self.labels_, "weights_", None)

    def _fit(self, Y: Any, scores: Any, sample_weight: Any = None, is_given: bool = False) -> None:
        """Fit; scores from a user (``is_given``) may be in sample."""
        check_choice("scale", self.scale, Scale)
        labels = read_labels(Y)
        self.label_names_ = labels.names
        self.rules_ = _bind_rules(self.rules, labels.names)
        weight = _read_weight(sample_weight)
        content = None if scores is None else self._read_scores(scores, labels.shape[0])
        if content is not None and is_given:
            warn_if_in_sample(labels, content, stacklevel=4)
        self.combination_ = fit_combination(
            as_label_classifier(self.labels),
            self.variant,
            self.evidence_weight,
            labels,
            content=content,
            weight=weight,
            known_weight=self.known_weight,
        )
        self.label_sets_ = count_label_sets(labels, weight)

    def _posterior_of_candidates(self, content: Any, known: Any) -> sparse.csr_array:
        """Return the posterior log-odds of candidates, accepted labels, and labels rules imply."""
        if known is None and self.rules_ is None:
            cells = Cells.of(content)
            return cells.matrix(self.combination_.posterior_at(cells, content.data))
        known = self._read_known(known, content.shape[0])
        parts, step = [], max(1, _CELLS // max(content.shape[1], 1))
        for start in range(0, max(content.shape[0], 1), step):
            rows = slice(start, start + step)
            dense, some = to_dense(content[rows]), None if known is None else known[rows]
            found = self.combination_.posterior(dense, some)
            found = self._keep_rules_of_rows(found, dense, some)
            found = np.where(np.isneginf(dense) & np.isneginf(found), np.nan, found)
            joined = Cells.of(sparse.csr_array(~np.isnan(found), dtype=np.float64))
            parts.append(joined.matrix(joined.at(found)))
        return sparse.csr_array(sparse.vstack(parts, format="csr"))

    def _keep_rules_of_rows(
        self, posterior: Matrix, content: Matrix, known: Matrix | None
    ) -> Matrix:
        """Apply rules to candidates; other labels, with content −inf, are improbable in rules."""
        if self.rules_ is None:
            return posterior
        is_absent = np.isneginf(content) & np.isneginf(posterior)
        if known is not None:
            is_absent &= np.isnan(known)
        if not is_absent.any():
            return self._keep_rules(posterior)
        kept = self._keep_rules(np.where(is_absent, _IMPROBABLE, posterior))
        return np.where(is_absent & (kept <= _IMPROBABLE), -np.inf, kept)

    def _read_scores(self, scores: Any, n_documents: int | None = None) -> Any:
        """Return content log-odds, dense or a CSR array of candidates."""
        if sparse.issparse(scores):
            cells, values = read_candidates(
                scores, self.label_names_, n_documents=n_documents, scale=self.scale
            )
            if self.scale == "probability":
                values = to_log_odds(values, clip=self.clip)
            return cells.matrix(values)
        values = read_scores(scores, self.label_names_, n_documents=n_documents, scale=self.scale)
        return to_log_odds(values, clip=self.clip) if self.scale == "probability" else values

    def _read_known(self, known: Any, n_documents: int) -> Matrix | None:
        """Return known labels and labels implied by them and the rules."""
        if known is None:
            return None
        given = read_known(known, n_documents, self.label_names_)
        return given if self.rules_ is None else self.rules_.complete_known(given)

    def _keep_rules(self, posterior: Matrix) -> Matrix:
        return posterior if self.rules_ is None else self.rules_.posterior(posterior)

    def _to_scale(self, posterior: Any) -> Any:
        if self.scale == "log_odds":
            return posterior
        if sparse.issparse(posterior):
            return Cells.of(posterior).matrix(to_probability(posterior.data))
        return to_probability(posterior)


def _read_weight(sample_weight: Any) -> Matrix | None:
    return None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)


def _bind_rules(rules: Rules | None, names: NDArray[Any]) -> Any:
    if rules is None:
        return None
    from labelkin.vocabulary.rules import bind_rules

    return bind_rules(rules, names)


def _count_block(block: Any, classes: Sequence[Any] | None) -> tuple[NDArray[Any], LabelSets]:
    from labelkin.scaling.blocks import read_block

    labels = read_labels(read_block(block), names=classes)
    return labels.names, count_label_sets(labels)


def _add_counts(
    one: tuple[NDArray[Any], LabelSets], other: tuple[NDArray[Any], LabelSets]
) -> tuple[NDArray[Any], LabelSets]:
    if not np.array_equal(one[0], other[0]):
        raise ValueError(
            f"Blocks must have the same labels, got {len(one[0])} and {len(other[0])} labels. "
            "Use classes=labels."
        )
    return one[0], one[1].merge(other[1])
