"""An experiment whose content classifiers name candidates: stored, learned from, judged as such."""

import shutil

import numpy as np
import pytest
from scipy import sparse

from labelkin import LabelRescorer, LogisticLabels, NaiveBayes, corpora
from labelkin.cli.compare import compare_runs
from labelkin.corpora.corpus import labels_of
from labelkin.evaluation.metrics import evaluate
from labelkin.research.experiments import parse_experiment, read_results, run_experiment
from labelkin.research.reports.documents import report_results
from labelkin.research.reports.results import read_outcomes
from labelkin.text import WordCounts
from labelkin.thresholds import SCut, as_rule

TEXT = """
name = "candidates"
variants = ["M2"]
evidence_weights = [1.0, "auto"]
[corpus]
name = "newsroom"
options = { n_documents = 300, seed = 1 }
[content.NB]
classifier = "naive_bayes"
top = 4
[content.all]
classifier = "naive_bayes"
[labels.BLR]
classifier = "logistic"
[thresholds.SCut]
rule = "scut"
"""


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("candidates")
    run_experiment(parse_experiment(TEXT), folder)
    return read_results(folder)  # from the files, with all their checks


@pytest.fixture(scope="module")
def by_hand():
    """Return labels, out-of-fold log-odds and log-odds of test documents, made without a run."""
    corpus = corpora.load("newsroom", n_documents=300, seed=1)
    texts = np.array(corpus.documents, dtype=object)
    words = WordCounts().fit(texts[corpus.train])
    X, X_test = (words.transform(texts[rows]) for rows in (corpus.train, corpus.test))
    Y = labels_of(corpus).rows(corpus.train)
    model = NaiveBayes(top=4)
    unseen = model.fit_out_of_fold(X, Y)
    return Y, unseen, model.log_odds(X_test), labels_of(corpus).rows(corpus.test)


def equal(one, other):
    assert sparse.issparse(one) and one.nnz == other.nnz
    assert (one.indices == other.indices).all() and (one.indptr == other.indptr).all()
    assert one.data.tobytes() == other.data.tobytes()


@pytest.mark.parametrize("weight", [1.0, "auto"])
def test_runs_hold_what_the_classes_give_on_candidates(stored, by_hand, weight):
    Y, unseen, content, _ = by_hand
    runs = stored.corpora[0]
    equal(runs.run("NB").log_odds(), content)
    rescorer = LabelRescorer(
        LogisticLabels(), variant="soft", evidence_weight=weight, scale="log_odds"
    )
    after = rescorer.fit(Y, scores=unseen).rescore(content)
    found = runs.run("NB+BLR+M2" + (" w=auto" if weight == "auto" else ""))
    equal(found.log_odds(), after)
    decided = found.decisions()
    assert sparse.issparse(decided) and decided.dtype == bool and decided.nnz
    assert (decided.toarray() == ((after.toarray() > 0) & (after != 0).toarray())).all()
    assert not list(found.folder.glob("*.npy"))  # nothing of all cells is there


def test_rules_are_tuned_and_decide_on_candidates(stored, by_hand):
    Y, unseen, content, _ = by_hand
    rule = as_rule(SCut(), "log_odds").fit(unseen, Y)
    found = stored.corpora[0].run("NB | SCut").decisions()
    assert (found != rule.decide(content)).nnz == 0


def test_what_candidates_can_reach_stands_beside_their_scores(stored, by_hand, tmp_path):
    *_, content, truth = by_hand
    (outcome,) = read_outcomes(stored.folder, rules=True)
    recall = evaluate(truth, content)["candidate_recall"]
    assert 0.5 < recall < 1
    rows = {s.system: s for s in outcome.scores if s.metric == "candidate_recall" and not s.rule}
    assert rows["NB"].value == rows["NB+BLR+M2 w=auto"].value == recall
    assert np.isnan(rows["all"].value)  # every label is a candidate there
    report_results(stored.folder, tmp_path)
    assert f"NB,candidate_recall,{recall!r}" in (tmp_path / "scores.csv").read_text()
    corpus = stored.corpora[0]
    pair = [(corpus.run(name), corpus) for name in ("NB", "NB+BLR+M2")]
    compared = compare_runs(*pair, n_draws=10, random_state=0)
    assert compared["scores"]["candidate_recall"] == (recall, recall)


def test_a_damaged_file_of_candidates_is_found(stored, tmp_path):
    copy = shutil.copytree(stored.folder, tmp_path / "copy")
    file = copy / "newsroom" / "runs" / "NB@seed0" / "log_odds.npz"
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"log_odds.npz has the checksum"):
        read_results(copy)
    file.unlink()
    with pytest.raises(ValueError, match=r"log_odds.npy is missing"):
        read_results(copy)


@pytest.mark.parametrize(
    ("added", "message"),
    [
        ('controls = ["offset"]', r"'controls' must have the scores of all labels, and top makes"),
        ("reveal = true", r"'reveal' must have the scores of all labels.*Leave top out"),
        (
            'rivals.BR = { classifier = "binary_relevance", estimator = "NB" }',
            r"'rivals.BR' must have the scores of all labels",
        ),
    ],
)
def test_what_looks_at_all_labels_is_told_before_anything_runs(added, message):
    with pytest.raises(ValueError, match=message):
        parse_experiment(f"{added}\n{TEXT}")


def test_no_candidates_at_all_are_an_error_with_its_place():
    with pytest.raises(ValueError, match=r"\[content.NB\]: top must be a whole number of at least"):
        parse_experiment(TEXT.replace("top = 4", "top = 0"))
