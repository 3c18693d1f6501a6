"""Experiment files: systems that follow from them, and errors."""

import pytest

from labelkin.research.experiments import (
    find_experiment,
    parse_experiment,
    read_experiment,
    shipped_experiments,
)

SHIPPED = list(shipped_experiments())
SMALL = """
name = "small"
[corpus]
name = "newsroom"
[content.NB]
classifier = "naive_bayes"
[content.kNN]
classifier = "nearest_neighbours"
n_neighbors = 7
weights = "tfidf"
terms = { criterion = "chi2", combine = "max", k = 50 }
[labels.BLR]
classifier = "logistic"
"""
PAPER = [
    f"{content}{addition}"
    for content in ("NB", "kNN", "SVM")
    for addition in ("", "+BLR+M1", "+BLR+M2", "+SMO+M1", "+SMO+M2")
]


def systems(experiment, corpus):
    return [run.system for run in experiment.runs() if run.corpus == corpus and run.seed == 0]


LEARNED = "+BLR+M2 w=auto"


@pytest.mark.parametrize("name", SHIPPED)
def test_every_packaged_experiment_has_the_systems_of_the_paper(name):
    experiment = find_experiment(name)
    expected = [s for s in PAPER if "SMO" not in s] if name == "social" else PAPER
    assert experiment.name == name
    assert not any(run.thresholds for run in experiment.runs())
    for corpus in experiment.corpora:
        found = [s for s in systems(experiment, corpus.name) if "Weka" not in s]
        assert [s for s in found if not s.endswith(LEARNED)] == expected
        contents = ("NB", "kNN", "SVM") if name == "demo" else ()
        assert [s for s in found if s.endswith(LEARNED)] == [f"{c}{LEARNED}" for c in contents]


@pytest.mark.parametrize(
    ("name", "k", "terms"),
    [
        ("reuters21578", 30, {"criterion": "information_gain", "combine": "sum", "k": 1000}),
        ("ohsumed23", 45, None),
        ("rcv1", 100, {"criterion": "chi2", "combine": "max", "k": 8000}),
    ],
)
def test_nearest_neighbours_have_the_paper_s_k_and_terms(name, k, terms):
    nearest = find_experiment(name).corpora[0].content["kNN"]
    assert (nearest.parameters["n_neighbors"], nearest.terms) == (k, terms)


def test_a_file_is_read_with_its_defaults():
    experiment = parse_experiment(SMALL)
    assert (experiment.title, experiment.seeds) == ("small", (0,))
    assert experiment.metrics[:2] == ("micro_f1", "macro_f1")
    assert systems(experiment, "newsroom") == [
        "NB", "NB+BLR+M1", "NB+BLR+M2", "kNN", "kNN+BLR+M1", "kNN+BLR+M2",
    ]  # fmt: skip


def test_a_learned_weight_learned_cut_offs_and_controls_are_systems():
    text = (
        'evidence_weights = [1, "auto"]\nvariants = ["M2", "M1cut"]\n'
        f'controls = ["calibration", "offset"]\n{SMALL}'
    )
    assert systems(parse_experiment(text), "newsroom")[:7] == [
        "NB", "NB+BLR+M2", "NB+BLR+M2 w=auto", "NB+BLR+M1cut", "NB+BLR+M1cut w=auto",
        "NB+calibration", "NB+offset",
    ]  # fmt: skip


def test_additions_name_those_that_are_wanted():
    text = f'evidence_weights = [1, "auto"]\nadditions = ["BLR+M2 w=auto", "BLR+M1"]\n{SMALL}'
    names = systems(parse_experiment(text), "newsroom")
    assert names[:3] == ["NB", "NB+BLR+M1", "NB+BLR+M2 w=auto"]


def test_threshold_rules_are_tried_on_the_content_and_on_learned_weights():
    rule = '[thresholds.Cut]\nrule = "global_cut"\nmetric = "macro_f1"\n'
    text = f'evidence_weights = [1, "auto"]\nvariants = ["M2"]\n{SMALL}{rule}'
    runs = [run for run in parse_experiment(text).runs() if run.thresholds]
    assert [run.system for run in runs[:2]] == ["NB | Cut", "NB+BLR+M2 w=auto | Cut"]
    assert [run.name for run in runs[:2]] == ["NB@Cut@seed0", "NB+BLR+M2_w=auto@Cut@seed0"]
    assert [run.start.name for run in runs[:2]] == ["NB@seed0", "NB+BLR+M2_w=auto@seed0"]


def test_a_corpus_may_have_separate_content_classifiers():
    text = SMALL.replace("[corpus]", "[[corpus]]").replace(
        "[content.NB]",
        '[[corpus]]\nname = "yeast"\n'
        '[corpus.content.NB]\nclassifier = "gaussian_naive_bayes"\n[content.NB]',
        1,
    )
    first, second = parse_experiment(text).corpora
    assert first.content["NB"].classifier == "naive_bayes"
    assert second.content["NB"].classifier == "gaussian_naive_bayes"
    assert first.content["kNN"] == second.content["kNN"]


def test_a_relative_path_counts_from_the_folder_of_the_file(tmp_path):
    (tmp_path / "mine.toml").write_text(SMALL.replace('"newsroom"', '"mine"\npath = "mine.jsonl"'))
    assert read_experiment(tmp_path / "mine.toml").corpora[0].path == str(tmp_path / "mine.jsonl")


def test_paths_titles_and_metrics_do_not_change_the_runs():
    moved = SMALL.replace("[content.NB]", 'path = "elsewhere"\n[content.NB]', 1)
    titled = f'title = "Another"\nmetrics = ["one_error"]\n{SMALL}'
    for other in (moved, titled):
        assert parse_experiment(other).runs() == parse_experiment(SMALL).runs()


TOP = 'name = "small"'


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (TOP, 'nme = "small"', r"small.toml: name must be given: a text"),
        (TOP, 'name = "a/b"', r"name must be a text that names files, .* got 'a/b'"),
        (
            TOP,
            f"{TOP}\nseeds = [1, 1]",
            r"seeds must be a list of one or more whole.*\[1, 1\]",
        ),
        (TOP, f"{TOP}\nevidence_weights = [nan]", r"at least 0 or 'auto', .*got \[nan\]"),
        (TOP, f'{TOP}\nadditions = ["BLR+M3"]', r"additions must be a list of some of 'BLR\+M1'"),
        (TOP, f"{TOP}\nthresholds.A = {{}}", r"\[thresholds.A\]: rule must be given: one of 'fix"),
        (
            TOP,
            f'{TOP}\nthresholds.A = {{rule = "scut_fbr", fbr = 2.5}}',
            r"\[thresholds.A\]: fbr must be a number in \[0, 1\], got 2.5",
        ),
        ('name = "newsroom"', "", r"\[corpus\]: name must be given"),
        (
            'name = "newsroom"',
            'name = "x"\ntest = "some"',
            r"test must be one of 'all'",
        ),
        ('"naive_bayes"', '"bayes"', r"\[content.NB\]: classifier must be one of 'svm', .*, got"),
        (
            "n_neighbors = 7",
            "top = 5",
            r"\[content.kNN\]: unknown key 'top'",
        ),
        ("n_neighbors = 7", "n_neighbors = 7.5", r"n_neighbors must be a whole number .*got 7.5"),
        ('"tfidf"', '"bm25"', r"weights must be one of 'counts', 'tfidf'"),
        ("k = 50", "kk = 50", r"\[content.kNN.terms\]: unknown key 'kk'. The keys are 'combine'"),
        ("[content.NB]", "[content.knn]", r"more than upper and lower case, got \['kNN', 'knn'\]"),
        ("[labels.BLR]", '[words]\nstem = "no"\n[labels.BLR]', r"stem must be true or false"),
        ("[content.NB]", "[content.NB", r"small.toml: the file must be TOML.*line 5"),
    ],
)
def test_errors_name_the_table_the_rule_and_the_value(old, new, message):
    assert old in SMALL
    with pytest.raises(ValueError, match=message):
        parse_experiment(SMALL.replace(old, new, 1), source="small.toml")
