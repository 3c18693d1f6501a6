"""Names that are spelled nearly like a text."""

import string
import time

import numpy as np
import pytest

from labelkin.vocabulary.label_names import LabelNames, SimilarNames

NAMES = [
    "wheat",
    "football",
    "interest-rates",
    "crude oil",
    "Agriculture and forestry",
    "Öl",
    "acq",
]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("wheet", "wheat"),
        ("whaet", "wheat"),
        ("heat", "wheat"),
        ("fotbal", "football"),
        ("intrest rates", "interest-rates"),
        ("cruude", "crude oil"),
        ("agricltur", "Agriculture and forestry"),
        ("FORRESTRY", "Agriculture and forestry"),
    ],
)
def test_a_misspelt_name_is_found(text, meant):
    assert [NAMES[place] for place in SimilarNames(NAMES).near(text)][:1] == [meant]


@pytest.mark.parametrize("text", ["", " ", "x", "qq", "no such label at all", "12345"])
def test_dissimilar_texts_find_nothing(text):
    assert SimilarNames(NAMES).near(text) == []
    assert SimilarNames([]).near(text) == []


def test_labels_are_found_once():
    names = LabelNames(["wheat", "winter wheat", "gold"])
    found = names.similar("wheet")
    assert [(names.labels[one.column], one.matched) for one in found] == [
        ("wheat", "wheat"),
        ("winter wheat", "winter wheat"),
    ]


def test_ten_thousand_names_are_searched_in_a_fifth_of_a_second():
    rng = np.random.default_rng(0)
    letters = np.array(list(string.ascii_lowercase))
    names = ["".join(rng.choice(letters, rng.integers(4, 20))) for _ in range(10_000)]
    similar = SimilarNames(names)
    start = time.process_time()
    for name in names[:20]:
        assert names.index(name) in similar.near(name[:2] + "q" + name[2:])
    assert (time.process_time() - start) / 20 < 0.2
