"""From the probability of an error in every cell to the list of issues, with their reasons."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelkin.curation.audit.contradictions import BrokenCell, Cell, TwinCell
from labelkin.curation.audit.evidence import GivenEvidence
from labelkin.curation.audit.issues import Issue, Kind, SimilarDocument
from labelkin.curation.audit.noise import NoiseModel
from labelkin.explain.contributions import LabelContribution
from labelkin.label_matrix import LabelMatrix
from labelkin.odds import count_log_odds
from labelkin.solvers.cosine_index import similar_documents

Places = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True, eq=False)
class Findings:
    """All that an audit has found, from which its issues are read.

    Attributes
    ----------
    labels
        What the corpus says.
    probability
        That it is wrong, ``(n_documents, n_labels)``.
    content, evidence, noise
        What that is made of.
    twins, broken
        Cells in which twins differ, and cells that break rules.
    rows
        The documents as rows of length 1; ``None``: nothing is known of similar ones.
    """

    labels: LabelMatrix
    probability: NDArray[np.float32]
    content: NDArray[np.float32]
    evidence: GivenEvidence
    noise: NoiseModel
    twins: dict[Cell, TwinCell]
    broken: dict[Cell, BrokenCell]
    rows: Any

    def surest(
        self, most: int, kinds: Collection[Kind] | None = None, among_first: bool = False
    ) -> Places:
        """Return documents and columns of the most probable errors, the surest first.

        Of equal ones the first document comes first, then the first column.

        Parameters
        ----------
        most : int
            How many at most.
        kinds : collection of kinds, optional
            Which; ``None``: all.
        among_first : bool, default False
            Whether the first ``most`` of all are looked at and those of other kinds left out;
            otherwise there are ``most`` of these kinds, if there are so many.
        """
        if kinds is None or among_first:
            row, column = _largest(self.probability, most)
            if kinds is None:
                return row, column
            kept = [self.kind(i, j) in kinds for i, j in zip(row, column, strict=True)]
            return row[kept], column[kept]
        return _largest(self._of_kinds(kinds), most)

    def kind(self, i: int, j: int) -> Kind:
        """Return what kind of error a cell is."""
        if (i, j) in self.broken:
            return "rule"
        if (i, j) in self.twins:
            return "twin"
        return "wrong" if self.labels.positive[i, j] else "missing"

    def issues(
        self, row: Any, column: Any, n_similar: int = 3, n_jobs: int | None = None
    ) -> list[Issue]:
        """Return the records of some cells."""
        similar = self._similar(row, n_similar, n_jobs)
        prior = count_log_odds(*self.labels.counts())
        return [
            self._issue(i, j, float(prior[j]), near)
            for i, j, near in zip(row.tolist(), column.tolist(), similar, strict=True)
        ]

    def _of_kinds(self, kinds: Collection[Kind]) -> NDArray[np.float32]:
        """Return the probabilities, 0 where errors are of another kind."""
        special = self.broken.keys() | self.twins.keys()
        given = self.labels.positive.nonzero()
        result = self.probability.copy() if "missing" in kinds else np.zeros_like(self.probability)
        result[given] = self.probability[given] if "wrong" in kinds else 0.0
        for cell in special:
            result[cell] = self.probability[cell] if self.kind(*cell) in kinds else 0.0
        return result

    def _issue(self, i: int, j: int, prior: float, similar: tuple[tuple[int, float], ...]) -> Issue:
        has, names = self.labels.positive, self.labels.names
        given = bool(has[i, j])
        sign = -1.0 if given else 1.0
        n_others = float(has.indptr[i + 1] - has.indptr[i] - given)
        content, labels, number = self.noise.parts(
            float(self.content[i, j]), float(self.evidence.added[i, j]), n_others
        )
        parts = {
            "prior": sign * prior,
            "content": sign * float(content - prior),
            "other labels": sign * float(labels),
            "number of labels": sign * float(number),
            "noise": float(self.noise.offsets()[given][j]),
        }
        reason = ""
        if (i, j) in self.twins:
            twin = self.twins[i, j]
            same = "the same words" if twin.similarity > 1 - 1e-6 else "nearly the same words"
            reason = f"document {twin.document} has {same} and is labelled otherwise"
        if (i, j) in self.broken:
            rule = self.broken[i, j]
            parts["rules"] = rule.added
            reason = rule.words(names, j, given)
        return Issue(
            document=i,
            label=names[j].item() if isinstance(names[j], np.generic) else names[j],
            kind=self.kind(i, j),
            given=given,
            probability=float(self.probability[i, j]),
            parts=parts,
            labels=self._other_labels(i, j, sign * float(self.noise.label_weight(n_others))),
            similar=tuple(SimilarDocument(k, s, self._has(k, j)) for k, s in similar),
            reason=reason,
        )

    def _other_labels(self, i: int, j: int, factor: float) -> tuple[LabelContribution, ...]:
        added = self.evidence.contributions(self.labels, i, j)
        if added is None:
            return ()
        names, has = self.labels.names.tolist(), self.labels.rows([i]).dense()[0]
        order = np.argsort(-np.abs(added), kind="stable")
        return tuple(
            LabelContribution(names[k], float(factor * added[k]), float(has[k]), True)
            for k in order.tolist()
            if added[k] and not np.isnan(has[k])
        )

    def _has(self, i: int, j: int) -> bool | None:
        unknown = self.labels.unknown
        if unknown is not None and unknown[i, j]:
            return None
        return bool(self.labels.positive[i, j])

    def _similar(
        self, documents: NDArray[Any], most: int, n_jobs: int | None
    ) -> list[tuple[tuple[int, float], ...]]:
        """Return the documents most similar to each of some, and how similar they are."""
        if self.rows is None or not most or not len(documents):
            return [()] * len(documents)
        asked, place = np.unique(documents, return_inverse=True)
        found = similar_documents(self.rows, self.rows[asked], most + 1, n_jobs=n_jobs)
        lists = []
        for q, own in enumerate(asked.tolist()):
            cells = slice(found.indptr[q], found.indptr[q + 1])
            near = zip(found.indices[cells].tolist(), found.data[cells].tolist(), strict=True)
            ranked = sorted(near, key=lambda one: (-one[1], one[0]))
            lists.append(tuple(one for one in ranked if one[0] != own)[:most])
        return [lists[q] for q in place.tolist()]


def repaired(
    labels: LabelMatrix, suspects: sparse.csr_array, repair: Literal["change", "unknown"]
) -> LabelMatrix:
    """Return labels with some cells turned into their opposite, or into "nobody knows"."""
    marked = sparse.csr_array(suspects, dtype=np.float64)
    if repair == "change":
        return replace(labels, positive=_clean(abs(labels.positive - marked)))
    unknown = _clean(marked if labels.unknown is None else labels.unknown.maximum(marked))
    positive = _clean(labels.positive - labels.positive.multiply(marked))
    return replace(labels, positive=positive, unknown=unknown if unknown.nnz else None)


def _clean(cells: Any) -> sparse.csr_array:
    """Return cells as :class:`LabelMatrix` has them: sorted, no stored zeros."""
    result = sparse.csr_array(cells)
    result.eliminate_zeros()
    result.sort_indices()
    return result


def _largest(probability: NDArray[np.float32], most: int) -> Places:
    """Return the places of the largest values above 0, in order; of equal ones the first."""
    flat = probability.ravel()
    bound = np.float32(0)
    if 0 < most < flat.size:
        bound = np.partition(flat, flat.size - most)[flat.size - most]
    cells = np.flatnonzero((flat >= bound) & (flat > 0))
    cells = cells[np.argsort(-flat[cells], kind="stable")][:most]
    row, column = np.divmod(cells, probability.shape[1])
    return row, column
