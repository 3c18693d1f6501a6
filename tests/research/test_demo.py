"""The demo from end to end: what it prints, what it writes, and what is an error."""

import csv
import io
from contextlib import redirect_stderr, redirect_stdout

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.metrics import f1_score

from labelkin.cli import main
from labelkin.content.naive_bayes import NaiveBayes
from labelkin.content.nearest_neighbours import NearestNeighbours
from labelkin.corpora import newsroom
from labelkin.method.label_evidence import LogisticLabels, SVMLabels
from labelkin.models.classifier import LabelDependenceClassifier
from labelkin.research import demo
from labelkin.research.experiments import find_experiment

N_DOCUMENTS, SEED = 400, 0
SYSTEMS = [
    content + addition
    for content in ("NB", "kNN", "SVM")
    for addition in ("", "+BLR+M1", "+BLR+M2", "+BLR+M2 w=auto", "+SMO+M1", "+SMO+M2")
]

LEARNED = [name for name in SYSTEMS if "+" not in name or "auto" in name]
PAPER = [name for name in SYSTEMS if "auto" not in name]
ORACLES = {
    "NB+BLR+M2 w=auto": (CountVectorizer(), NaiveBayes(), LogisticLabels(), "soft"),
    "NB+BLR+M2": (CountVectorizer(), NaiveBayes(), LogisticLabels(), "soft"),
    "kNN+BLR+M2": (TfidfVectorizer(), NearestNeighbours(30), LogisticLabels(), "soft"),
    "kNN+SMO+M1": (TfidfVectorizer(), NearestNeighbours(30), SVMLabels(), "hard"),
}


def run_demo(out, *options):
    stdout, stderr = io.StringIO(), io.StringIO()
    arguments = ["demo", "--n-documents", str(N_DOCUMENTS), "--out", str(out), *options]
    with redirect_stdout(stdout), redirect_stderr(stderr), pytest.raises(SystemExit) as end:
        main(arguments)
    return end.value.code, stdout.getvalue(), stderr.getvalue()


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo") / "new" / "folder"
    return out, *run_demo(out, "--random-state", str(SEED))


@pytest.fixture(scope="module")
def again(tmp_path_factory):
    out = tmp_path_factory.mktemp("again")
    return out, *run_demo(out, "--random-state", str(SEED), "--quiet")


def printed_rows(text):
    """Yield every printed row: its system, then cell by cell."""
    for line in text.splitlines():
        name = next(
            (s for s in sorted(SYSTEMS, key=len, reverse=True) if line.startswith(f"{s} ")), ""
        )
        if name:
            yield name, line.removeprefix(name).split()


@pytest.fixture(scope="module")
def rows(result):
    """The printed rows by system, cell by cell."""
    return dict(printed_rows(result[2]))


@pytest.fixture(scope="module")
def oracle():
    """By system the log-odds alone and with its addition, from the estimators; and the truth."""
    corpus = newsroom(N_DOCUMENTS, seed=SEED)
    Y, Y_test = (corpus.Y[part] for part in (corpus.train, corpus.test))
    posteriors = {"truth": Y_test}
    for name, (words, content, labels, variant) in ORACLES.items():
        vectorizer = words.fit(corpus.documents[corpus.train])
        X, X_test = (vectorizer.transform(corpus.documents[i]) for i in (corpus.train, corpus.test))
        weight = "auto" if "auto" in name else 1.0
        both = LabelDependenceClassifier(
            content, labels=labels, variant=variant, evidence_weight=weight
        ).fit(X, Y)
        posteriors[name] = clone(content).fit(X, Y).log_odds(X_test), both.log_odds(X_test)
    return posteriors


def test_the_learned_weight_against_the_content_comes_first_then_the_paper(result):
    out, code, stdout, _ = result
    assert code == 0
    assert [name for name, _ in printed_rows(stdout)] == LEARNED + PAPER
    first = stdout.splitlines()[0]
    assert first == "The weight of label evidence is learned (w=auto), against the content alone:"
    assert read_scores(out).keys() >= {(name, "micro_f1") for name in SYSTEMS}


def test_it_is_an_experiment_that_comes_with_labelkin():
    runs = find_experiment("demo").runs()
    assert [run.system for run in runs] == SYSTEMS


@pytest.mark.parametrize("name", ORACLES)
def test_a_printed_row_is_what_scikit_learn_measures(name, rows, oracle):
    truth, (alone, added) = oracle["truth"], oracle[name]
    micro, macro = (
        [f1_score(truth, odds > 0, average=kind, zero_division=0) for odds in (alone, added)]
        for kind in ("micro", "macro")
    )
    printed = rows[name]
    assert [printed[i] for i in (0, 3)] == [f"{micro[1]:.5f}", f"{macro[1]:.5f}"]
    changes = [100 * (after - before) / before for before, after in (micro, macro)]
    assert [printed[i] for i in (1, 4)] == [f"{c:+.2f}".replace("-", "−") for c in changes]


@pytest.mark.parametrize("name", ORACLES)
def test_the_printed_signs_are_what_a_fair_coin_would_say(name, rows, oracle):
    truth, pair = oracle["truth"], oracle[name]
    right = [(odds > 0) == truth for odds in pair]
    f1 = [f1_score(truth, odds > 0, average=None, zero_division=0) for odds in pair]
    micro = [f1_score(truth, odds > 0, average="micro") for odds in pair]
    units = ((right[1] & ~right[0]).sum(), (right[0] & ~right[1]).sum())
    labels = ((f1[1] > f1[0] + 1e-12).sum(), (f1[0] > f1[1] + 1e-12).sum())
    assert rows[name][2] == coin_sign(*units, micro[1] > micro[0])
    assert rows[name][5] == coin_sign(*labels, f1[1].mean() > f1[0].mean())


def coin_sign(won, lost, gains):
    """The paper's sign, for a proposal that won and lost so many units and gained F1, or not."""
    n, k = int(won + lost), int(won if gains else lost)
    if n <= 12:
        p_value = stats.binom.sf(k - 1, n, 0.5)
    else:
        p_value = stats.norm.sf((k - n / 2) / (np.sqrt(n) / 2))
    return ("~<≪" if gains else "~>≫")[int(p_value < 0.05) + int(p_value < 0.01)]


def test_a_change_has_the_sign_of_the_difference(rows, result):
    scores = read_scores(result[0])
    for name in (name for name in SYSTEMS if "+" in name):
        for metric, place in (("micro_f1", 1), ("macro_f1", 4)):
            before = scores[name.split("+")[0], metric]
            change = 100 * (scores[name, metric] - before) / before
            printed = float(rows[name][place].replace("−", "-"))
            assert printed == pytest.approx(change, abs=0.0051)


def test_baselines_are_printed_without_change_and_sign(rows):
    for name, row in rows.items():
        assert len(row) == 6
        assert ([row[i] for i in (1, 2, 4, 5)] == ["–"] * 4) == ("+" not in name)


def read_scores(out):
    with (out / "scores.csv").open(newline="", encoding="utf-8") as file:
        return {(row["system"], row["metric"]): float(row["value"]) for row in csv.DictReader(file)}


def test_the_output_has_no_colours_and_ends_with_the_path(result):
    out, _, stdout, stderr = result
    assert "\x1b" not in stdout + stderr
    assert stdout.rstrip().endswith(f"Report: {(out / 'report.html').resolve()}")
    assert "≪ and < mean that the baseline is worse" in " ".join(stdout.split())


def test_progress_goes_to_stderr_unless_it_is_not_wanted(result, again):
    assert "18/18" in result[3] and "18/18" not in result[2]
    assert again[3] == ""


def test_report_and_scores_are_there_and_nothing_else(result):
    out = result[0]
    assert sorted(path.name for path in out.iterdir()) == ["report.html", "scores.csv"]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and page.endswith("</html>\n")
    assert all(f">{name}<" in page for name in SYSTEMS)
    assert "http" not in page and page.count("<img") == 3 + 3


def test_the_same_seed_gives_the_same_bytes(result, again):
    for name in ("scores.csv", "report.html"):
        assert (again[0] / name).read_bytes() == (result[0] / name).read_bytes()


def test_few_documents_are_enough_and_another_seed_gives_other_scores(tmp_path):
    for seed in ("0", "1"):
        run_demo(tmp_path / seed, "--n-documents", "20", "--random-state", seed, "--quiet")
    assert read_scores(tmp_path / "0") != read_scores(tmp_path / "1")


def test_an_output_that_knows_no_signs_gets_their_numbers(tmp_path):
    stdout = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    with redirect_stdout(stdout), pytest.raises(SystemExit):
        main(["demo", "--n-documents", "20", "--out", str(tmp_path), "--quiet"])
    stdout.flush()
    printed = stdout.buffer.getvalue().decode("cp1252")
    assert r"\u226a and < mean" in printed and "report.html" in printed


def test_content_evidence_is_computed_once_for_all_systems_of_a_content(monkeypatch, tmp_path):
    calls, reported = [], []
    log_odds = NaiveBayes.log_odds
    monkeypatch.setattr(NaiveBayes, "log_odds", lambda *args: calls.append(1) or log_odds(*args))
    demo.run_demo(120, out=tmp_path, progress=lambda done, total, text: reported.append(text))
    assert len(calls) == 1
    assert [text.split("@")[0].replace("_", " ") for text in reported] == [*SYSTEMS, "done"]


@pytest.mark.parametrize(
    ("options", "message"),
    [(["--n-documents", "1"], "--n-documents"), (["--random-state", "-1"], "--random-state")],
)
def test_what_cannot_be_made_is_one_line(options, message, tmp_path):
    code, _, stderr = run_demo(tmp_path, *options)
    assert code == 2
    assert message in stderr and stderr.count("\n") == 1


@pytest.mark.parametrize(("documents", "seed"), [(1, 0), (20, -1)])
def test_python_is_answered_as_the_command_line(documents, seed, tmp_path):
    with pytest.raises(ValueError, match=r"n_documents must be at least 2|seeds must be .* \[-1\]"):
        demo.run_demo(documents, seed, tmp_path / "out")


def test_an_output_folder_that_is_a_file_is_an_error(tmp_path):
    (tmp_path / "file").write_text("mine")
    code, _, stderr = run_demo(tmp_path / "file")
    assert code == 2
    assert "file" in stderr
    assert (tmp_path / "file").read_text() == "mine"


def test_a_missing_extra_is_named_before_anything_is_computed(monkeypatch, tmp_path):
    monkeypatch.setattr(demo, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r'jinja2: pip install "labelkin\[cli\]"'):
        demo.run_demo(out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
