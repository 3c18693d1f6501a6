"""Words and their counts: compared with counting by hand; patterns and positions of words."""

import sys
import unicodedata
import weakref

import numpy as np
import pandas as pd
import polars as pl
import pytest
import Stemmer
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from labelkin.corpora import newsroom
from labelkin.text import (
    WORD,
    WordCounts,
    remove_markup,
    smart_stop_words,
)
from labelkin.text.words import (
    SurfaceForm,
    snowball_stemmer,
    stop_word_set,
    surface_forms,
    word_finder,
)

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
    ours = WordCounts(None, stop_words=None, stem=False, min_documents=1, markup=False)
    theirs = CountVectorizer(token_pattern=WORD)
    try:
        expected = theirs.fit_transform(texts)
    except ValueError:
        with pytest.raises(ValueError, match="must contain words other than stop words"):
            ours.fit(texts)
        return
    np.testing.assert_array_equal(ours.fit_transform(texts).toarray(), expected.toarray())
    assert ours.vocabulary_ == theirs.vocabulary_


def test_stop_words_are_left_out_before_stemming_not_after():
    texts = ["being beings"] * 3
    assert WordCounts().fit(texts).get_feature_names_out().tolist() == ["be"]
    assert WordCounts(stop_words=["be"]).fit_transform(texts)[0].sum() == 2


def test_no_stemming_needs_no_stemmer(monkeypatch):
    monkeypatch.setitem(sys.modules, "Stemmer", None)
    model = WordCounts("klingon", stem=False, min_documents=1).fit(["ships ship"])
    assert model.get_feature_names_out().tolist() == ["ship", "ships"]
    with pytest.raises(ImportError, match=r'stem=True needs PyStemmer: pip install "labelkin'):
        WordCounts().fit(TEXTS)


@pytest.mark.parametrize("wrap", [list, tuple, iter, np.array, pd.Series, pl.Series])
def test_any_iterable_of_texts_is_accepted(wrap):
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


def test_the_size_of_the_cache_does_not_change_counts(monkeypatch):
    texts = newsroom(60).documents
    expected = WordCounts(min_documents=1).fit_transform(texts)
    monkeypatch.setattr("labelkin.text.words._REMEMBERED", 7)
    assert (WordCounts(min_documents=1).fit_transform(texts) != expected).nnz == 0


def test_only_stop_words_is_an_error_with_a_hint():
    with pytest.raises(ValueError, match=r"other than stop words, got 3 without.*relax stop_words"):
        WordCounts().fit(["the", "and of", "1 2 3"])


@pytest.mark.parametrize(
    ("documents", "what"),
    [("a text", "a str"), (pd.DataFrame({"text": TEXTS}), "a DataFrame"), (7, "a int")],
)
def test_documents_must_be_an_iterable_of_texts(documents, what):
    model = WordCounts(min_documents=1).fit(TEXTS)
    for read in (model.fit, model.transform):
        with pytest.raises(ValueError, match=f"an iterable of texts.*got {what}.*into a list"):
            read(documents)


@pytest.mark.parametrize(
    ("thing", "name"), [(b"ship", "bytes"), (None, "NoneType"), (np.nan, "float"), (["a"], "list")]
)
def test_other_types_than_text_are_errors_with_their_position(thing, name):
    with pytest.raises(TypeError, match=rf"got {name} at document 2\. Decode bytes"):
        WordCounts().fit(["ship", "ship", thing])


def test_unknown_languages_list_the_choices():
    with pytest.raises(ValueError, match=r"got 'klingon'. It knows arabic, .*english"):
        WordCounts("klingon").fit(TEXTS)


def words(text, language="english", markup=True):
    return word_finder(WORD, language=language, markup=markup)(text)


def test_the_smart_list_has_570_words():
    stop_words = smart_stop_words()
    assert len(stop_words) == 570
    assert {"a", "would", "don't", "zero", "whereafter"} <= stop_words
    assert stop_words == {word.strip().lower() for word in stop_words}
    assert "" not in stop_words


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("<TITLE>Gold</TITLE><BODY>rises</BODY>", "Gold rises"),
        ('<a href="x.html" class=b>link</a>', "link"),
        ("line<br/>break<br />here", "line break here"),
        ("<!-- not <b>this</b> --> but this", "but this"),
        ("<script>var a = 1 < 2;</script>oil <STYLE type=x>p {}</style>gas", "oil gas"),
        ('<?xml version="1.0"?><!DOCTYPE lewis SYSTEM "lewis.dtd">text', "text"),
        ("<![CDATA[kept]]> too", "kept too"),
        ("<d:subject xml:lang='en'>oil</d:subject>", "oil"),
        ("of &lt;IBM> &amp; others&#3;", "of <IBM> & others"),
        ("&lt;b&gt; is no mark", "<b> is no mark"),
        ("a < b and c > d", "a < b and c > d"),
        (
            "write to <me@home.org> or <http://home.org>",
            "write to <me@home.org> or <http://home.org>",
        ),
        ("1 <2 and AT&T <", "1 <2 and AT&T <"),
        ("cut <!-- off", "cut"),
        ("", ""),
    ],
)
def test_marks_become_spaces_and_references_are_decoded(text, plain):
    assert " ".join(remove_markup(text).split()) == plain


@pytest.mark.parametrize(
    ("mark", "left"), [("<!--", ""), ("<script>", ""), ("<a", "<a"), ("</script ", "</script ")]
)
def test_unclosed_marks_are_searched_in_linear_time(mark, left):
    assert remove_markup(mark * 50_000).strip() == (left * 50_000).strip()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ships, ships; SHIPS.", ["ships", "ships", "ships"]),
        (
            "don't rock 'n' roll the U.S. boys' boat",
            ["don't", "rock", "n", "roll", "the", "u", "s", "boys", "boat"],
        ),
        ("the company’s", ["the", "company's"]),
        ("well-known 3rd b2b snake_case", ["well", "known", "rd", "b", "b", "snake", "case"]),
        ("Zürich Łódź naïve Ελλάδα мир", ["zürich", "łódź", "naïve", "ελλάδα", "мир"]),
        ("cafe\u0301 café", ["café", "café"]),
        ("10 km² 2½ 1,000.5", ["km"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("தமிழ் மொழி", ["தமிழ்", "மொழி"]),
        ("كِتَاب جديد", ["كِتَاب", "جديد"]),
        ("می\u200cخواهم بروم", ["می\u200cخواهم", "بروم"]),
        ("", []),
        (" \n\t 12 -- !", []),
    ],
)
def test_a_word_is_letters_with_their_signs_and_inner_apostrophes(text, expected):
    assert words(text) == [unicodedata.normalize("NFC", word) for word in expected]


def test_marks_are_kept_on_demand():
    assert words("profit of <IBM> &amp; co", markup=False) == ["profit", "of", "ibm", "amp", "co"]


def test_turkish_has_two_letters_i():
    assert words("DIŞ İŞLERİ", language="turkish") == ["dış", "işleri"]
    assert words("DI", language="english") == ["di"]


def test_stop_words_by_name_by_language_and_as_a_list():
    assert stop_word_set("auto", "english") == smart_stop_words()
    assert stop_word_set("auto", "german") == frozenset()
    assert stop_word_set("smart", "german") == smart_stop_words()
    assert stop_word_set(None, "english") == frozenset()
    assert stop_word_set(["Und", "it’s"], "english") == {"und", "it's"}
    assert stop_word_set(iter(("a", "b")), "english") == {"a", "b"}


def test_a_single_stop_word_is_an_error_with_a_hint():
    with pytest.raises(ValueError, match=r"'auto', 'smart', None or .*got 'the'.*=\['the'\]"):
        stop_word_set("the", "english")


@pytest.mark.parametrize("language", Stemmer.algorithms())
def test_stems_are_snowball_s_in_every_language(language):
    stem, snowball = snowball_stemmer(language), Stemmer.Stemmer(language)
    for word in ["running", "nationalities", "häuser", "maisons", "книгами", "हिन्दी", "kitaplar"]:
        assert stem(word) == snowball.stemWord(word)


PIECES = [
    "Trading", "trades", "the", "don’t", "don't", "1990s", "&", ";", "-", "AT&amp;T",
    "caf&eacute;s", "cafe\u0301s", "cafés", "<b>", "</b>", "<!-- trades -->", "a < b", "&lt;IBM>",
    "&notit;", "&#3;", "<script>no</script>", "İstanbul", "ISPARTA", "ΟΔΟΣ", "σοφός",
    "\u212bngstro\u0308m", "\u0915\u093c\u092c", "\u0958\u092c", "\u1112\u1161\u11ab", "한",
    "x\u0301\u0323y", "१२", "½", "\u05e9\u05c1\u05dc",
]  # fmt: skip
WRITTEN = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5)), max_size=12).flatmap(
    lambda pieces: st.sampled_from([" ", ""]).map(lambda between: between.join(pieces))
)


@st.composite
def word_counts(draw):
    return WordCounts(
        draw(st.sampled_from(["english", "turkish", "greek"])),
        stop_words=draw(st.sampled_from(["auto", None, ["trades", "σοφός"]])),
        stem=draw(st.booleans()),
        min_documents=1,
        markup=draw(st.booleans()),
    )


@settings(deadline=None, max_examples=200)
@given(WRITTEN, word_counts())
def test_every_counted_word_is_found_in_the_text(text, counts):
    row = counts.fit_transform([text, "ξένος"])[[0]]
    counted = dict(zip(counts.get_feature_names_out()[row.indices], row.data, strict=True))
    found = surface_forms(text, counts)
    assert {term: len(forms) for term, forms in found.items()} == counted
    for term, form in ((term, form) for term, forms in found.items() for form in forms):
        assert form.word == text[form.start : form.end]
        # Alone it is the same term, except for a final Σ, which depends on the next letter.
        assert "Σ" in text or term in surface_forms(form.word, counts)


def test_positions_are_those_of_the_text_with_its_marks_and_references():
    text = "<b>Ships</b> &amp; caf&eacute; ship"
    counts = WordCounts(min_documents=1).fit([text])
    assert surface_forms(text, counts) == {
        "ship": [SurfaceForm("Ships", 3, 8), SurfaceForm("ship", 31, 35)],
        "café": [SurfaceForm("caf&eacute;", 19, 30)],
    }


@pytest.mark.parametrize(
    "text", ["cafe\u0301 gold", "\u0958\u0958 gold", "\u1112\u1161\u11ab gold"]
)
def test_decomposed_letters_keep_positions(text):
    counts = WordCounts(min_documents=1, stem=False).fit([text])
    where = text.index("gold")
    assert surface_forms(text, counts)["gold"] == [SurfaceForm("gold", where, where + 4)]
    first, _ = surface_forms(text, counts).values()
    assert first[0].word == text.split()[0]


@pytest.mark.parametrize("pattern", ["[a-", None, r"#(\w+)"])
def test_an_invalid_token_pattern_is_an_error(pattern):
    with pytest.raises(ValueError, match=r"token_pattern must be a regular expression, got"):
        WordCounts(token_pattern=pattern).fit(TEXTS)
