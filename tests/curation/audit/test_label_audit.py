"""LabelAudit: errors found, forms of labels, invalid input."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit, logit
from sklearn.base import clone

from labelkin import LabelAudit, NaiveBayes
from labelkin.curation.audit.issues import list_end
from labelkin.curation.audit.noise import GivenEvidence
from labelkin.label_matrix import read_labels
from labelkin.method.label_evidence import LogisticLabels
from labelkin.vocabulary.rules import Rules


def corpus(n_documents=240, seed=0):
    """Return word counts and labels (corn, gold, grain, wheat); wheat and corn are grain."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(0, 3, n_documents)
    Y = np.zeros((n_documents, 4), dtype=int)
    Y[topic == 0, 0] = Y[topic == 2, 3] = 1
    Y[topic == 1, 1] = 1
    Y[topic != 1, 2] = 1
    Y[(topic == 0) & (rng.random(n_documents) < 0.3), 3] = 1
    X = rng.poisson(0.2 + 3 * np.repeat(Y, 5, axis=1)).astype(float)
    return X, Y


@pytest.fixture(scope="module")
def audited():
    """Return X, the true labels, labels with one error of each kind, its place, and the audit."""
    X, Y = corpus()
    D = Y.copy()
    lacks, has = np.flatnonzero(Y[:, 2])[5], np.flatnonzero(Y[:, 1] == 0)[9]
    D[lacks, 2], D[has, 1] = 0, 1
    fitted = LabelAudit(content=NaiveBayes(), random_state=0).fit(X, D)
    return X, Y, D, (lacks, has), fitted


def test_injected_errors_come_first_with_kind_and_repair(audited):
    _, _, _, (lacks, has), audit = audited
    found = {(one.document, one.label, one.kind, one.repair) for one in audit.issues(2)}
    assert found == {(lacks, 2, "missing", "add"), (has, 1, "wrong", "remove")}
    assert audit.list_end_ >= 2


def test_parts_of_an_issue_add_up_to_its_log_odds(audited):
    for issue in audited[-1].issues(20):
        if 1e-6 < issue.probability < 1 - 1e-4:
            total = sum(issue.parts.values())
            assert total == pytest.approx(logit(issue.probability), abs=2e-2)
        assert np.isfinite(sum(one.log_odds for one in issue.labels))


def test_cleaned_labels_are_the_true_ones(audited):
    _, Y, D, _, audit = audited
    assert np.array_equal(audit.cleaned(), Y)
    assert audit.cleaned(at_least=1.0).sum() == D.sum()
    with pytest.raises(ValueError, match="at_least must be above 0"):
        audit.cleaned(at_least=0)


def test_frame_has_a_row_per_issue_and_snake_case_columns(audited):
    *_, audit = audited
    frame = audit.issues_frame(5)
    assert list(frame["probability"]) == sorted(frame["probability"], reverse=True)
    assert {"prior", "content", "other_labels", "noise", "because_of"} <= set(frame.columns)
    assert not [name for name in frame.columns if " " in name]
    assert len(audit.issues_frame(0)) == 0


def test_same_seed_gives_same_bytes_and_parameters_stay(audited):
    X, _, D, _, audit = audited
    before = audit.get_params()
    again = clone(audit).fit(X, D)
    assert np.array_equal(again.error_probability_, audit.error_probability_)
    assert audit.get_params() == before


def test_cleaned_labels_have_the_form_of_the_given_ones(audited):
    X, Y, D, _, audit = audited
    names = ["corn", "gold", "grain", "wheat"]
    sets = [{names[j] for j in np.flatnonzero(row)} for row in D]
    frame = pd.DataFrame(D, columns=names)
    forms = {
        sparse.csr_array: sparse.csr_array(D),
        sparse.csr_matrix: sparse.csr_matrix(D),
        np.ndarray: frame,
        list: sets,
    }
    for form, labels in forms.items():
        again = clone(audit).fit(sparse.csr_array(X), labels)
        assert again.error_probability_ == pytest.approx(audit.error_probability_, abs=1e-6)
        cleaned = again.cleaned()
        assert type(cleaned) is form
        assert np.array_equal(read_labels(cleaned).positive.toarray(), Y)


def test_unknown_cells_are_no_issues_and_stay_unknown(audited):
    X, _, D, _, audit = audited
    holes = D.astype(float)
    places = np.random.default_rng(1).random(D.shape) < 0.1
    holes[places] = np.nan
    again = clone(audit).fit(X, holes)
    assert (again.error_probability_[places] == 0).all()
    assert not any(places[one.document, one.label] for one in again.issues(500))
    assert np.array_equal(np.isnan(again.cleaned(0.3)), places)


def test_scores_replace_the_content_classifier(audited):
    _, _, D, _, audit = audited
    scores = expit(audit.content_log_odds_.astype(float))
    again = LabelAudit().fit(None, D, scores=scores)
    assert again.content_ is None
    assert again.issues(1)[0].similar == ()
    both = np.corrcoef(again.error_probability_.ravel(), audit.error_probability_.ravel())
    assert both[0, 1] > 0.95


def test_similar_documents_have_cosine_and_label(audited):
    _, _, D, _, audit = audited
    issue = audit.issues(1)[0]
    assert len(issue.similar) == 3
    for document, similarity, has in issue.similar:
        assert document != issue.document
        assert 0 < similarity <= 1
        assert has == bool(D[document, issue.label])


def test_broken_rule_is_an_issue_with_its_reason(audited):
    X, _, D, (lacks, _), _ = audited
    rules = Rules(implies=[(3, 2), (0, 2)])
    audit = LabelAudit(content=NaiveBayes(), rules=rules, random_state=0).fit(X, D)
    first = audit.issues(1)[0]
    assert (first.document, first.label, first.kind) == (lacks, 2, "rule")
    assert first.reason in ("3 implies 2", "0 implies 2")
    assert first.parts["rules"] > 0


def test_near_duplicates_are_listed_and_change_no_probability(audited):
    X, Y, *_ = audited
    doubled, D = np.vstack([X, X[:40]]), np.vstack([Y, Y[:40]])
    doubled[245, 0] += 1.0
    D[[245, 250], 2] = 1 - D[[245, 250], 2]
    audit = LabelAudit(content=NaiveBayes(), random_state=0).fit(doubled, D)
    reasons = {one.document: one.reason for one in audit.issues() if one.kind == "near-duplicate"}
    assert reasons[250] == "document 10 has the same words and is labelled otherwise"
    assert reasons[245] == "document 5 has nearly the same words and is labelled otherwise"
    alone = LabelAudit(scale="log_odds").fit(None, D, scores=audit.content_log_odds_)
    np.testing.assert_array_equal(audit.error_probability_, alone.error_probability_)


def test_second_round_learns_from_changed_labels(audited):
    X, Y, D, _, first = audited
    again = LabelAudit(content=NaiveBayes(), rounds=2, random_state=0).fit(X, D)
    changed = read_labels(first.cleaned(0.5))
    evidence = GivenEvidence.of(LogisticLabels(tol=1e-6), read_labels(D), changed)
    np.testing.assert_allclose(again.evidence_.added, evidence.added)
    assert np.array_equal(again.cleaned(), Y)


def test_notes_name_labels_that_cannot_be_audited_and_count_unlabelled_documents():
    X, Y = corpus(80)
    Y = np.hstack([Y, np.zeros((80, 2), dtype=int)])
    Y[5, 5] = 1
    Y[:3] = 0
    audit = LabelAudit(content=NaiveBayes()).fit(X, Y)
    assert (audit.error_probability_[:, 4:] == 0).all()
    constant, single, empty = audit.notes_
    assert "1 labels of no document, or of all documents, cannot be audited: '4'" in constant
    assert "1 labels that only one document has, or lacks, cannot be audited: '5'" in single
    assert "3 documents have no label" in empty


@pytest.mark.parametrize(
    ("X", "Y", "options", "message"),
    [
        (np.ones((4, 2)), [["a"], ["b"], ["a"], []], {}, "at least 8 documents"),
        (np.ones((9, 2)), np.arange(9), {}, "label matrix or label sets"),
        (np.ones((9, 2)), [["a"]] * 10, {}, "same number of documents"),
        (None, [["a"]] * 10, {}, "X may be None only if scores"),
        (np.ones((9, 2)), [["a"]] * 9, {"rounds": 0}, "rounds must be a whole number"),
    ],
)
def test_invalid_input_is_an_error(X, Y, options, message):
    with pytest.raises(ValueError, match=message):
        LabelAudit(**options).fit(X, Y)


@pytest.mark.parametrize("n_errors", [0.5, 2.0, 30.0])
def test_list_ends_at_the_best_expected_f1(n_errors):
    p = np.sort(np.random.default_rng(0).random(40) ** 3)[::-1]
    f1 = [2 * p[:k].sum() / (k + n_errors) for k in range(1, 41)]
    assert list_end(p, n_errors) == int(np.argmax(f1)) + 1
    assert list_end([], 3.0) == 0
