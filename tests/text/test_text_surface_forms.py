"""The words as they are written, for every term they are reduced to."""

import sys
import unicodedata
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelkin.text import WordCounts
from labelkin.text.words import SurfaceForm, surface_forms

PIECES = [
    "Trading", "trades", "the", "don’t", "don't", "1990s", "&", ";", "-", "AT&amp;T",
    "caf&eacute;s", "cafe\u0301s", "cafés", "<b>", "</b>", "<!-- trades -->", "a < b", "&lt;IBM>",
    "&notit;", "&#3;", "<script>no</script>", "İstanbul", "ISPARTA", "ΟΔΟΣ", "σοφός",
    "\u212bngstro\u0308m", "\u0915\u093c\u092c", "\u0958\u092c", "\u1112\u1161\u11ab", "한",
    "x\u0301\u0323y", "१२", "½", "\u05e9\u05c1\u05dc",
]  # fmt: skip
TEXTS = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5)), max_size=12).flatmap(
    lambda pieces: st.sampled_from([" ", ""]).map(lambda between: between.join(pieces))
)


@st.composite
def word_counts(draw):
    return WordCounts(
        draw(st.sampled_from(["english", "turkish", "greek"])),
        draw(st.sampled_from(["auto", None, ["trades", "σοφός"]])),
        stem=draw(st.booleans()),
        min_documents=1,
        markup=draw(st.booleans()),
        lowercase=draw(st.booleans()),
        token_pattern=draw(st.sampled_from([WordCounts().token_pattern, r"\S+", r"(\w)\w*"])),
    )


@settings(deadline=None, max_examples=200)
@given(TEXTS, word_counts())
def test_every_counted_word_is_found_where_it_is_written(text, counts):
    row = counts.fit_transform([text, "ξένος"])[[0]]
    counted = dict(zip(counts.get_feature_names_out()[row.indices], row.data, strict=True))
    found = surface_forms(text, counts)
    assert {term: len(forms) for term, forms in found.items()} == counted
    for term, form in ((term, form) for term, forms in found.items() for form in forms):
        assert form.word == text[form.start : form.end]
        # alone it is the same term; but what a final Σ becomes depends on what follows
        assert "Σ" in text or term in surface_forms(form.word, counts)


def test_a_form_alone_is_reduced_to_its_term():
    text = "<p>Caf&eacute;s trading, cafe\u0301 TRADES &amp; “Traders’ trade”</p>"
    counts = WordCounts(min_documents=1).fit([text])
    for term, forms in surface_forms(text, counts).items():
        for form in forms:
            assert counts.transform([form.word]).toarray().sum() == 1
            assert counts.transform([form.word])[0, counts.vocabulary_[term]] == 1


def test_positions_are_those_of_the_text_with_its_marks_and_references():
    text = "<b>Ships</b> &amp; caf&eacute; ship"
    counts = WordCounts(min_documents=1).fit([text])
    assert surface_forms(text, counts) == {
        "ship": [SurfaceForm("Ships", 3, 8), SurfaceForm("ship", 31, 35)],
        "café": [SurfaceForm("caf&eacute;", 19, 30)],
    }


def test_stop_words_and_terms_unseen_in_training_have_no_forms():
    counts = WordCounts(min_documents=2).fit(["the ship", "ships sank"])
    assert list(surface_forms("The ships sank, said the crew", counts)) == ["ship"]
    assert surface_forms("", counts) == {}


def test_a_letter_whose_small_form_is_longer_moves_nothing():
    counts = WordCounts(min_documents=1, stem=False).fit(["İİİ gold"])
    assert surface_forms("İİİ gold", counts)["gold"] == [SurfaceForm("gold", 4, 8)]


@pytest.mark.parametrize(
    "text", ["cafe\u0301 gold", "\u0958\u0958 gold", "\u1112\u1161\u11ab gold"]
)
def test_letters_written_in_parts_move_nothing(text):
    counts = WordCounts(min_documents=1, stem=False).fit([text])
    where = text.index("gold")
    assert surface_forms(text, counts)["gold"] == [SurfaceForm("gold", where, where + 4)]
    first, _ = surface_forms(text, counts).values()
    assert first[0].word == text.split()[0]


def test_only_marks_and_hangul_join_the_letter_before_them():
    """What tracing assumes of Unicode, held against all of it."""
    signs = map(chr, range(sys.maxunicode + 1))
    parts = (unicodedata.decomposition(sign).split() for sign in signs)
    seconds = {chr(int(two[1], 16)) for two in parts if len(two) == 2 and "<" not in two[0]}
    stray = {sign for sign in seconds if unicodedata.category(sign)[0] != "M"}
    assert not {sign for sign in stray if not "\U00016d60" <= sign <= "\U00016d7f"}  # Kirat Rai
    grown = Counter(len(chr(i).lower()) for i in range(sys.maxunicode + 1))
    assert grown[2] == 1 and "İ".lower() == "i\u0307"
    assert set(grown) == {1, 2}
