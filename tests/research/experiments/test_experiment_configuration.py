"""What an experiment file may say, and what the errors say when it says something else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelkin.evaluation.metrics import evaluate
from labelkin.evaluation.metrics.inputs import SCORE_NAMES
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
    assert experiment.threshold_runs() == ()
    for corpus in experiment.corpora:
        found = [s for s in systems(experiment, corpus.name) if "Weka" not in s]
        assert [s for s in found if not s.endswith(LEARNED)] == expected
        contents = ("NB", "kNN", "SVM") if name == "demo" else ()
        assert [s for s in found if s.endswith(LEARNED)] == [f"{c}{LEARNED}" for c in contents]


def test_on_reuters_the_solver_of_the_paper_stands_beside_the_exact_one():
    found = systems(find_experiment("reuters21578"), "reuters21578")
    assert [s for s in found if "Weka" in s] == [
        f"{content}+BLR-Weka+{variant}"
        for content in ("NB", "kNN", "SVM")
        for variant in ("M1", "M2")
    ]


def test_nine_experiments_are_packaged():
    assert set(SHIPPED) == {
        "demo", "reuters21578", "ohsumed23", "rcv1", "rcv1-sample", "music",
        "proteins", "social", "text-classics",
    }  # fmt: skip


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


def test_measured_features_have_a_gaussian_naive_bayes():
    corpora = {c.name: c for name in ("music", "proteins") for c in find_experiment(name).corpora}
    kinds = {name: corpus.content["NB"].classifier for name, corpus in corpora.items()}
    assert kinds == {
        "emotions": "gaussian_naive_bayes",
        "yeast": "gaussian_naive_bayes",
        "genbase": "naive_bayes",
    }


def test_terms_are_in_at_least_as_many_documents_as_in_the_paper():
    for name in ("reuters21578", "ohsumed23"):
        assert find_experiment(name).words["min_documents"] == 3
    assert find_experiment("rcv1").corpora[0].options["min_documents"] == 5


def test_every_metric_of_an_evaluation_can_be_asked_for():
    scores = evaluate([[1, 0], [0, 1]], [[1.0, -1.0], [-1.0, 1.0]]).scores()
    assert set(SCORE_NAMES) == set(scores)


def test_a_name_that_nothing_has_lists_those_that_come_with_labelkin():
    with pytest.raises(FileNotFoundError, match=r"no file 'reuter', and no .*demo.*reuters21578"):
        find_experiment("reuter")


def test_a_file_goes_before_an_experiment_of_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo").write_text(SMALL)
    assert find_experiment("demo").name == "small"


def test_a_file_is_read_with_its_defaults():
    experiment = parse_experiment(SMALL)
    assert (experiment.title, experiment.seeds) == ("small", (0,))
    assert experiment.metrics[:2] == ("micro_f1", "macro_f1")
    assert systems(experiment, "newsroom") == [
        "NB", "NB+BLR+M1", "NB+BLR+M2", "kNN", "kNN+BLR+M1", "kNN+BLR+M2",
    ]  # fmt: skip


def test_other_weights_than_the_paper_s_are_in_the_name():
    text = f'evidence_weights = [1, 0.35, 2.0]\nvariants = ["M2"]\n{SMALL}'
    names = systems(parse_experiment(text), "newsroom")
    assert names[:4] == ["NB", "NB+BLR+M2", "NB+BLR+M2 w=0.35", "NB+BLR+M2 w=2"]


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
    runs = parse_experiment(text).threshold_runs()
    assert [run.system for run in runs[:2]] == ["NB | Cut", "NB+BLR+M2 w=auto | Cut"]
    assert [run.name for run in runs[:2]] == ["NB@Cut@seed0", "NB+BLR+M2_w=auto@Cut@seed0"]
    assert [run.start.name for run in runs[:2]] == ["NB@seed0", "NB+BLR+M2_w=auto@seed0"]


@pytest.mark.parametrize(
    ("extra", "needed"),
    [
        ("", False),
        ('evidence_weights = ["auto"]', True),
        ('variants = ["M1cut"]', True),
        ('controls = ["offset"]', True),
        ('thresholds.Cut = {rule = "mcut"}', True),
    ],
)
def test_out_of_fold_evidence_is_kept_when_some_system_needs_it(extra, needed):
    runs = {run.name: run for run in parse_experiment(f"{extra}\n{SMALL}").runs()}
    assert runs["NB@seed0"].keeps_out_of_fold == needed


def test_a_corpus_may_have_content_classifiers_of_its_own():
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


def test_where_a_corpus_lies_and_what_is_reported_decide_nothing_about_the_runs():
    moved = SMALL.replace("[content.NB]", 'path = "elsewhere"\n[content.NB]', 1)
    titled = f'title = "Another"\nmetrics = ["one_error"]\n{SMALL}'
    for other in (moved, titled):
        assert parse_experiment(other).runs() == parse_experiment(SMALL).runs()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "small"', 'nme = "small"', r"small.toml: name must be given: a text"),
        (
            'name = "small"',
            'name = "small"\nseed = 3',
            r"unknown key 'seed'\. The keys are .*'seeds'",
        ),
        ('name = "small"', 'name = "a/b"', r"name must be a text that names files, .* got 'a/b'"),
        ('name = "small"', 'name = "small"\nseeds = 3', r"seeds must be a list .* got 3"),
        ('name = "small"', 'name = "small"\nseeds = [0, true]', r"seeds must be .*True"),
        ('name = "small"', 'name = "small"\nseeds = [1, 1]', r"distinct whole numbers.*\[1, 1\]"),
        (
            'name = "small"',
            'name = "small"\nseeds = []',
            r"seeds must be a list of at least one seed, of distinct .*, got \[\]",
        ),
        ('name = "small"', 'name = "small"\nevidence_weights = [-1]', r"at least 0, .*got \[-1\]"),
        (
            'name = "small"',
            'name = "small"\nevidence_weights = [nan]',
            r"at least 0, .*got \[nan\]",
        ),
        (
            'name = "small"',
            'name = "small"\nvariants = ["M3"]',
            r"of 'M1', 'M2', 'M1cut', each once",
        ),
        (
            'name = "small"',
            'name = "small"\nevidence_weights = [1, "outo"]',
            r"evidence_weights must be a list .* or 'auto' among them, got \[1, 'outo'\]",
        ),
        (
            'name = "small"',
            'name = "small"\nadditions = ["BLR+M2 w=auto"]',
            r"additions must be a list of some of 'BLR\+M1', 'BLR\+M2', each once, got",
        ),
        (
            'name = "small"',
            'name = "small"\ncontrols = ["shift"]',
            r"controls must be a list of some of 'offset', 'calibration', each once, got",
        ),
        (
            "[labels.BLR]",
            "[thresholds.A]\n[labels.BLR]",
            r"\[thresholds.A\]: rule must be given: one of 'fixed_cut', .*'not_empty'",
        ),
        (
            "[labels.BLR]",
            '[thresholds.A]\nrule = "scut_fbr"\nfbr = 2.5\n[labels.BLR]',
            r"\[thresholds.A\]: fbr must be a number in \[0, 1\], got 2.5",
        ),
        (
            "[labels.BLR]",
            '[thresholds.A]\nrule = "global_cut"\nmetric = "f2"\n[labels.BLR]',
            r"\[thresholds.A\]: metric must be one of .*'micro_f1', .* got 'f2'",
        ),
        (
            "[labels.BLR]",
            '[thresholds.A]\nrule = "mcut"\nscale = "probability"\n[labels.BLR]',
            r"\[thresholds.A\]: unknown key 'scale'. The keys are 'rule'",
        ),
        (
            "[labels.BLR]",
            '[thresholds."A B"]\nrule = "mcut"\n[labels.BLR]',
            r"thresholds.A B must be a text that names files",
        ),
        ('name = "small"', 'name = "small"\nmetrics = ["f2"]', r"metrics must be .*'one_error'"),
        ('name = "newsroom"', "", r"\[corpus\]: name must be given"),
        (
            'name = "newsroom"',
            'name = "x"\nsplit = 1',
            r"\[corpus\]: unknown key 'split'.*'options'",
        ),
        (
            'name = "newsroom"',
            'name = "x"\ndocuments = { test = "some" }',
            r"\[corpus.documents\]: test must be one of 'all', 'labelled', got 'some'",
        ),
        (
            'name = "newsroom"',
            'name = "x"\ndocuments = { tests = "all" }',
            r"\[corpus.documents\]: unknown key 'tests'. The keys are 'test', 'train'",
        ),
        ('[corpus]\nname = "newsroom"', "", r"corpus must be given: a table"),
        ('[corpus]\nname = "newsroom"', "corpus = 3", r"corpus must be a table"),
        (
            '"naive_bayes"',
            '"naive_bayse"',
            r"\[content.NB\]: classifier must be one of 'svm', .*'gaussian_naive_bayes', .*, got",
        ),
        (
            '"logistic"',
            '"logistic"\nsolver = "wek"',
            r"\[labels.BLR\]: solver must be one of 'exact', 'weka', got 'wek'",
        ),
        ('"logistic"', '"logit"', r"\[labels.BLR\]: classifier must be one of 'logistic', 'svm'"),
        (
            "n_neighbors = 7",
            "top = 5",
            r"\[content.kNN\]: an experiment must have the scores of all",
        ),
        (
            "n_neighbors = 7",
            "n_neighbours = 7",
            r"\[content.kNN\]: unknown key 'n_neighbours'. The keys are 'classifier', 'clip', 'n_n",
        ),
        ("n_neighbors = 7", "n_neighbors = 7.5", r"n_neighbors must be a whole number .*got 7.5"),
        ("n_neighbors = 7", "random_state = 1", r"unknown key 'random_state'"),
        ('"tfidf"', '"bm25"', r"weights must be one of 'counts', 'tfidf'"),
        ("k = 50", "kk = 50", r"\[content.kNN.terms\]: unknown key 'kk'. The keys are 'combine'"),
        ("[content.NB]", "[content.'N B']", r"content.N B must be a text that names files"),
        ("[content.NB]", "[content.knn]", r"more than upper and lower case, got \['kNN', 'knn'\]"),
        ("[labels.BLR]", "[words]\nstemm = true\n[labels.BLR]", r"\[words\]: unknown key 'stemm'"),
        ("[labels.BLR]", '[words]\nstem = "no"\n[labels.BLR]', r"stem must be true or false"),
        ("[content.NB]", "[content.NB", r"small.toml: the file must be TOML.*line 5"),
    ],
)
def test_errors_name_the_place_the_rule_and_what_came(old, new, message):
    assert old in SMALL
    with pytest.raises(ValueError, match=message):
        parse_experiment(SMALL.replace(old, new, 1), source="small.toml")


def test_an_experiment_without_content_classifiers_is_an_error():
    with pytest.raises(ValueError, match="newsroom must have a content classifier"):
        parse_experiment('name = "small"\n[corpus]\nname = "newsroom"')


def test_a_file_that_is_not_utf8_is_named(tmp_path):
    (tmp_path / "latin.toml").write_bytes('title = "Évidence"'.encode("latin-1"))
    with pytest.raises(ValueError, match=r"latin.toml: the file must be UTF-8"):
        read_experiment(tmp_path / "latin.toml")


names = st.lists(
    st.from_regex(r"[a-z0-9][a-z0-9._-]{0,3}", fullmatch=True), unique=True, min_size=1
)


@settings(max_examples=50, deadline=None)
@given(
    names,
    names,
    st.lists(st.floats(0, 3), unique=True, min_size=1, max_size=3),
    st.lists(st.integers(0, 9), unique=True, min_size=1, max_size=3),
)
def test_run_names_are_distinct_and_the_content_comes_first(content, labels, weights, seeds):
    text = f"name = 'x'\nseeds = {seeds}\nevidence_weights = {weights}\ncorpus.name = 'newsroom'\n"
    text += "".join(f"[content.'{name}']\nclassifier = 'naive_bayes'\n" for name in content)
    text += "".join(f"[labels.'{name}']\nclassifier = 'logistic'\n" for name in labels)
    runs = parse_experiment(text).runs()
    position = {run.name: i for i, run in enumerate(runs)}
    assert len(position) == len(runs)
    alone = [f"{run.content}@seed{run.seed}" for run in runs]
    assert all(position[a] <= position[run.name] for a, run in zip(alone, runs, strict=True))
