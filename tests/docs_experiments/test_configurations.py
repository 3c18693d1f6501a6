"""The experiments behind pages: their corpora and systems."""

from pathlib import Path

import pytest

from labelkin.research.experiments import find_experiment
from labelkin.research.experiments.plan import part_names

FOLDER = Path(__file__).parents[2] / "docs" / "experiments" / "configurations"
NAMES = sorted(path.stem for path in FOLDER.glob("*.toml"))
CONTENT, LEARNED = ("NB", "kNN", "SVM"), "+BLR+M2 w=auto"
BEYOND = (LEARNED, "+BLR+M1cut", "+offset", "+calibration")
RULES = ("GlobalCut", "SCut", "SCutFBR", "RCut", "MCut", "ExpectedF1", "PCut", "NotEmpty")


def read(name):
    return find_experiment(FOLDER / f"{name}.toml")


def beginning(text):
    return [name for name in NAMES if name.startswith(text)]


def systems(experiment, corpus):
    return [run.system for run in experiment.runs() if run.corpus == corpus and run.seed == 0]


@pytest.mark.parametrize("name", NAMES)
def test_every_experiment_is_valid_and_has_the_name_of_its_file(name):
    if name.startswith("strong-"):
        pytest.importorskip("labelkin_omikuji")
    assert read(name).name == name


@pytest.mark.parametrize("name", beginning("beyond-"))
def test_beyond_the_paper_every_rule_is_tried_on_content_and_on_the_learned_weight(name):
    experiment = read(name)
    assert {run.system for run in experiment.runs() if run.thresholds} == {
        f"{content}{addition} | {rule}"
        for content in CONTENT
        for addition in ("", LEARNED)
        for rule in RULES
    }
    for corpus in experiment.corpora:
        found = set(systems(experiment, corpus.name))
        assert found >= {f"{content}{addition}" for content in CONTENT for addition in BEYOND}


@pytest.mark.parametrize("name", beginning("related-"))
def test_every_related_method_is_tried_with_the_same_content_classifier(name):
    experiment = read(name)
    for corpus in experiment.corpora:
        kinds = {related.classifier for related in corpus.related.values()}
        mixtures = {"mixture_model", "parametric_mixture"}
        assert set(part_names("related")) - kinds <= (
            mixtures if name in ("related-numbers", "related-rcv1-sample") else set()
        )
        assert all(related.time_limit for related in corpus.related.values())
        asked = {related.estimator.name for related in corpus.related.values() if related.estimator}
        assert asked == {"SVM"}
    assert set(experiment.thresholds) == {"SCut", "SCutFBR", "GlobalCut"}
