"""The record of a corpus: what it prints, in a terminal and in a notebook."""

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from scipy import sparse

from labelkin.corpora import Corpus, newsroom
from labelkin.corpora.corpus import kind_of_features
from labelkin.label_matrix import read_labels


@pytest.fixture
def vectors():
    return Corpus(
        name="tiny <b>",
        documents=sparse.csr_array(np.eye(3)),
        Y=read_labels([["tea"], ["tea", "sugar"], []]),
        train=np.array([0, 1]),
        test=np.array([2]),
        source="a & b",
        licence="none",
        features="counts",
    )


def test_a_corpus_prints_in_four_short_lines(vectors):
    assert repr(vectors).splitlines() == [
        "Corpus tiny <b>",
        "  documents  3: 2 to train, 1 to test",
        "  labels     2, 1.00 per document",
        "  features   3 counts",
    ]
    assert len(repr(newsroom(300))) < 200


def test_a_notebook_gets_a_small_table_of_escaped_cells(vectors):
    class Cells(HTMLParser):
        tags, texts = [], []

        def handle_starttag(self, tag, attributes):
            self.tags.append(tag)

        def handle_data(self, data):
            self.texts.append(data)

    parser = Cells()
    parser.feed(vectors._repr_html_())
    assert set(parser.tags) == {"table", "tr", "th", "td"}
    assert parser.texts[:4] == ["corpus", "tiny <b>", "documents", "3: 2 to train, 1 to test"]
    assert parser.texts[-1] == "a & b"
    assert len(newsroom(300)._repr_html_()) < 1000


def test_a_corpus_of_nothing_prints(vectors):
    nothing = np.array([], dtype=int)
    empty = replace(
        vectors,
        documents=vectors.documents[:0],
        Y=vectors.Y.rows(nothing),
        train=nothing,
        test=nothing,
    )
    assert "0: 0 to train, 0 to test" in repr(empty)


@pytest.mark.parametrize("make", [np.array, sparse.csr_array])
@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([[0.0, 1.0]], "binary"),
        ([[0.0, 2.0]], "counts"),
        ([[0.5, 2.0]], "weights"),
        ([[-1.0, 1.0]], "numbers"),
        ([[np.nan, 1.0]], "binary"),
    ],
)
def test_the_kind_of_features_is_the_narrowest_that_fits(make, values, kind):
    assert kind_of_features(make(values)) == kind
