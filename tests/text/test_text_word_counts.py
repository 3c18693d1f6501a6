"""Counts of terms: against counting by hand, and what a stream, a new text or an empty one does."""

import pickle
import sys
import weakref

import numpy as np
import pandas as pd
import polars as pl
import pytest
import Stemmer
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from labelkin import NaiveBayes
from labelkin.corpora import newsroom
from labelkin.text import WordCounts, smart_stop_words

TEXTS = ["The ships sail.", "A ship sailed, and ships sank", "sailing", "", "the and of"]


def counted_by_hand(texts, min_documents):
    """Lower-case ASCII words, SMART, Snowball, in plain Python."""
    stem = Stemmer.Stemmer("english").stemWord
    terms = []
    for text in texts:
        letters = "".join(c if c.isascii() and c.isalpha() else " " for c in text.lower())
        terms.append([stem(word) for word in letters.split() if word not in smart_stop_words()])
    having = {}
    for document in terms:
        for term in set(document):
            having[term] = having.get(term, 0) + 1
    columns = sorted(term for term, n in having.items() if n >= min_documents)
    return columns, [[document.count(term) for term in columns] for document in terms]


@pytest.mark.parametrize("min_documents", [1, 3, 20])
def test_counts_equal_counting_by_hand(min_documents):
    texts = newsroom(150).documents
    model = WordCounts(min_documents=min_documents)
    counts = model.fit_transform(texts)
    terms, by_hand = counted_by_hand(texts, min_documents)
    assert model.get_feature_names_out().tolist() == terms
    np.testing.assert_array_equal(counts.toarray(), by_hand)
    np.testing.assert_array_equal(model.transform(texts).toarray(), by_hand)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(alphabet="ab e'<>&;É1-\n", max_size=30), min_size=1, max_size=6))
def test_without_stems_and_stop_words_it_counts_like_scikit_learn(texts):
    pattern = r"[^\W\d_]+"
    ours = WordCounts(None, None, stem=False, min_documents=1, markup=False, token_pattern=pattern)
    theirs = CountVectorizer(token_pattern=pattern)
    try:
        expected = theirs.fit_transform(texts)
    except ValueError:
        with pytest.raises(ValueError, match="must contain words other than stop words"):
            ours.fit(texts)
        return
    np.testing.assert_array_equal(ours.fit_transform(texts).toarray(), expected.toarray())
    assert ours.vocabulary_ == theirs.vocabulary_


def test_the_steps_on_a_small_example():
    model = WordCounts(min_documents=2)
    counts = model.fit_transform(TEXTS)
    assert model.get_feature_names_out().tolist() == ["sail", "ship"]
    assert counts.toarray().tolist() == [[1, 1], [1, 2], [1, 0], [0, 0], [0, 0]]
    assert model.vocabulary_ == {"sail": 0, "ship": 1}
    assert model.stop_words_ == smart_stop_words()


def test_stop_words_are_left_out_before_stemming_not_after():
    texts = ["being beings"] * 3
    assert WordCounts().fit(texts).get_feature_names_out().tolist() == ["be"]
    assert WordCounts(stop_words=["be"]).fit_transform(texts)[0].sum() == 2


def test_stop_words_match_in_any_case():
    model = WordCounts(stop_words=["THE"], lowercase=False, stem=False, min_documents=1)
    assert model.fit(["The the tHe Ship"]).get_feature_names_out().tolist() == ["Ship"]


def test_counts_are_canonical_float64_csr():
    model = WordCounts(min_documents=1).fit(TEXTS)
    for counts in (model.transform(TEXTS), model.fit_transform(TEXTS)):
        assert sparse.issparse(counts)
        assert counts.format == "csr"
        assert counts.dtype == np.float64
        assert counts.indices.dtype == np.int32
        assert counts.has_canonical_format


def test_new_words_are_left_out_and_documents_without_a_known_term_are_empty_rows():
    model = WordCounts(min_documents=1).fit(["ship", "sail"])
    counts = model.transform(["ships and trains", "trains", "", "the"])
    assert counts.toarray().tolist() == [[0, 1], [0, 0], [0, 0], [0, 0]]
    assert model.transform([]).shape == (0, 2)
    assert model.vocabulary_ == {"sail": 0, "ship": 1}


def test_german_by_a_parameter():
    texts = ["Die Häuser am Fluß", "das Haus", "Häusern"]
    model = WordCounts("german", min_documents=1).fit(texts)
    stem = Stemmer.Stemmer("german").stemWord
    expected = {stem(w) for w in ["die", "häuser", "am", "fluß", "das", "haus", "häusern"]}
    assert model.get_feature_names_out().tolist() == sorted(expected)
    assert model.transform(["HÄUSER"]).sum() == 1


def test_no_stemming_needs_no_stemmer(monkeypatch):
    monkeypatch.setitem(sys.modules, "Stemmer", None)
    model = WordCounts("klingon", stem=False, min_documents=1).fit(["ships ship"])
    assert model.get_feature_names_out().tolist() == ["ship", "ships"]
    with pytest.raises(ImportError, match=r'stem=True needs PyStemmer: pip install "labelkin'):
        WordCounts().fit(TEXTS)


@pytest.mark.parametrize("wrap", [list, tuple, iter, np.array, pd.Series, pl.Series])
def test_any_iterable_of_texts_will_do(wrap):
    model = WordCounts(min_documents=2)
    expected = model.fit_transform(TEXTS).toarray()
    np.testing.assert_array_equal(model.fit_transform(wrap(TEXTS)).toarray(), expected)
    np.testing.assert_array_equal(model.transform(wrap(TEXTS)).toarray(), expected)


class Text(str):
    """A text that can be watched."""


def test_texts_are_read_one_after_the_other_and_not_kept():
    alive, most = weakref.WeakSet(), []

    def stream():
        for i in range(50):
            text = Text(f"ship number {'abc'[i % 3]}x")
            alive.add(text)
            yield text
            del text
            most.append(len(alive))

    model = WordCounts(min_documents=1)
    model.fit_transform(stream())
    model.transform(stream())
    assert len(most) == 100
    assert max(most) <= 2


def test_blocks_of_texts_count_like_all_of_them():
    texts = newsroom(90).documents
    model = WordCounts().fit(texts)
    blocks = [model.transform(texts[start : start + 25]) for start in range(0, 90, 25)]
    assert (sparse.vstack(blocks) != model.transform(texts)).nnz == 0


def test_more_words_than_are_remembered_change_nothing(monkeypatch):
    texts = newsroom(60).documents
    expected = WordCounts(min_documents=1).fit_transform(texts)
    monkeypatch.setattr("labelkin.text.words._REMEMBERED", 7)
    assert (WordCounts(min_documents=1).fit_transform(texts) != expected).nnz == 0


def test_too_rare_terms_leave_nothing_and_the_error_says_how_rare():
    with pytest.raises(
        ValueError,
        match=r"min_documents=4 documents.*of 3 terms in 5 documents the most common occurs in 3\. "
        r"Lower min_documents",
    ):
        WordCounts(min_documents=4).fit(TEXTS)


def test_nothing_but_stop_words_is_an_error_with_a_way_out():
    with pytest.raises(ValueError, match=r"other than stop words, got 3 without.*relax stop_words"):
        WordCounts().fit(["the", "and of", "1 2 3"])


def test_no_documents_are_an_error():
    with pytest.raises(ValueError, match=r"at least one document to learn terms from, got none"):
        WordCounts().fit(iter([]))


@pytest.mark.parametrize(
    ("documents", "what"),
    [("a text", "one text"), (pd.DataFrame({"text": TEXTS}), "a DataFrame"), (7, "a int")],
)
def test_documents_must_be_an_iterable_of_texts(documents, what):
    model = WordCounts(min_documents=1).fit(TEXTS)
    for read in (model.fit, model.transform):
        with pytest.raises(ValueError, match=f"an iterable of texts.*got {what}.*into a list"):
            read(documents)


@pytest.mark.parametrize(
    ("thing", "name"), [(b"ship", "bytes"), (None, "NoneType"), (np.nan, "float"), (["a"], "list")]
)
def test_what_is_no_text_is_named_by_its_position(thing, name):
    with pytest.raises(TypeError, match=rf"got {name} at document 2\. Decode bytes"):
        WordCounts().fit(["ship", "ship", thing])


@pytest.mark.parametrize("wrong", [0, -1, 2.5, True, "3", None])
def test_min_documents_must_be_a_whole_number(wrong):
    with pytest.raises(ValueError, match=r"min_documents must be a whole number of at least 1"):
        WordCounts(min_documents=wrong).fit(TEXTS)


def test_unknown_languages_list_the_choices():
    with pytest.raises(ValueError, match=r"got 'klingon'. It knows arabic, .*english"):
        WordCounts("klingon").fit(TEXTS)


def test_the_output_is_sparse_whatever_scikit_learn_is_set_to():
    with config_context(transform_output="pandas"):
        assert sparse.issparse(WordCounts(min_documents=1).fit_transform(TEXTS))


def test_clone_pickle_and_parameters():
    model = WordCounts("german", ["und"], min_documents=1, stem=False)
    assert repr(clone(model)) == repr(model)
    strange = {name: object() for name in model.get_params()}
    assert vars(WordCounts(**strange)) == strange
    before = model.get_params()
    again = pickle.loads(pickle.dumps(model.fit(TEXTS)))
    assert model.get_params() == before
    assert (again.transform(TEXTS) != model.transform(TEXTS)).nnz == 0
    with pytest.raises(NotFittedError, match="This WordCounts instance is not fitted"):
        clone(model).transform(TEXTS)
    with pytest.raises(NotFittedError, match="This WordCounts instance is not fitted"):
        clone(model).get_feature_names_out()


def test_transforming_changes_no_model():
    model = WordCounts(min_documents=1).fit(TEXTS)
    before = pickle.dumps(model)
    model.transform(["new words", "ship"])
    assert pickle.dumps(model) == before


def test_a_pipeline_from_texts_to_labels():
    corpus = newsroom(300)
    model = make_pipeline(WordCounts(), NaiveBayes())
    model.fit(corpus.documents[corpus.train], corpus.Y.rows(corpus.train).plain())
    assert model.predict(corpus.documents[corpus.test]).shape == corpus.Y.rows(corpus.test).shape
