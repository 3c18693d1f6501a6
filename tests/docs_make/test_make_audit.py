"""The page on audits is made from stored runs."""

import json

import pytest
from docs.make.audit import audit_page, read_runs

SCORES = {"missing": 0.2, "wrong": 0.3, "joint": 0.25}


def stored(joint, seed, weights="tfidf", corpus="small"):
    more = {"precision at errors": 0.5, "recall at 1 %": 0.6}
    half = {name: value / 2 for name, value in (SCORES | more).items()}
    return {
        "corpus": corpus,
        "weights": weights,
        "recipe": "random",
        "rates": [0.1, 0.05],
        "seed": seed,
        "shape": [1000, 20],
        "n_missing": 100,
        "n_wrong": 50,
        "expected": {"missing": 90.0, "wrong": 60.0},
        "list_end": 120,
        "found_at_list_end": 60,
        "scores": {
            "content": half,
            "cleanlab": half,
            "labels": half,
            "equation 2": half,
            "audit": SCORES | more | {"joint": joint},
        },
        "seconds": {"content": 2.0, "label part": 0.3},
        "test": {
            name: {"micro_f1": 0.8, "macro_f1": 0.5} for name in ("damaged", "cleaned", "right")
        },
    }


@pytest.fixture
def folder(tmp_path):
    for seed, joint in enumerate((0.24, 0.26)):
        (tmp_path / f"{seed}.json").write_text(json.dumps(stored(joint, seed)))
    return tmp_path


def test_the_page_has_means_over_seeds_and_ratios(folder):
    page = audit_page(read_runs([folder]))
    assert "| small | 0.100 / 0.150 / 0.125 |" in page
    assert "| 0.200 / 0.300 / 0.250 | 2.00 | 2.00 | 2 |" in page
    assert "| 90 of 100 | 60 of 50 | 0.50 | 0.40 |" in page
    assert "| 15% |" in page
