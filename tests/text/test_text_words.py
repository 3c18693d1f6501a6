"""What a word is, what a mark is, which words are left out, and stems."""

import re
import sys
import unicodedata

import pytest
import Stemmer

from labelkin.text import WORD, remove_markup, smart_stop_words
from labelkin.text.words import read_stop_words, snowball_stemmer, word_finder


def words(text, language="english", **steps):
    options = {"markup": True, "lowercase": True, **steps}
    return word_finder(options.pop("token_pattern", WORD), language=language, **options)(text)


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
        ("<script>var a = 1 < 2;</script>said <STYLE type=x>p {}</style>so", "said so"),
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
def test_marks_become_spaces_and_references_what_they_mean(text, plain):
    assert " ".join(remove_markup(text).split()) == plain


@pytest.mark.parametrize(
    ("mark", "left"), [("<!--", ""), ("<script>", ""), ("<a", "<a"), ("</script ", "</script ")]
)
def test_thousands_of_unclosed_marks_are_searched_once_not_again_and_again(mark, left):
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


@pytest.mark.parametrize(
    "block", [(0x300, 0x370), (0x591, 0x600), (0x600, 0x700), (0x900, 0x980), (0xB80, 0xC00)]
)
def test_every_sign_of_the_scripts_snowball_knows_stays_with_its_word(block):
    for sign in map(chr, range(*block)):
        kind = unicodedata.category(sign)
        whole = re.findall(WORD, f"a{sign}b") == [f"a{sign}b"]
        if kind != "Cn":
            assert whole == (kind[0] == "L" or kind in ("Mn", "Mc")), f"U+{ord(sign):04X} {kind}"


def test_case_is_kept_on_demand():
    assert words("The US and us", lowercase=False) == ["The", "US", "and", "us"]


def test_marks_are_kept_on_demand():
    assert words("profit of <IBM> &amp; co", markup=False) == ["profit", "of", "ibm", "amp", "co"]


def test_turkish_has_two_letters_i():
    assert words("DIŞ İŞLERİ", language="turkish") == ["dış", "işleri"]
    assert words("DI", language="english") == ["di"]


def test_a_group_in_the_pattern_is_the_word():
    assert words("#oil and #gas", token_pattern=r"#(\w+)") == ["oil", "gas"]


@pytest.mark.parametrize("pattern", ["[a-", None, 3])
def test_a_pattern_must_be_a_regular_expression(pattern):
    with pytest.raises(ValueError, match=r"token_pattern must be a regular expression, got"):
        words("text", token_pattern=pattern)


def test_a_pattern_has_one_group_at_most():
    with pytest.raises(ValueError, match=r"may have one group, the word, got 2 in .*Write \(\?:"):
        words("text", token_pattern=r"(a)(b)")


def test_stop_words_by_name_by_language_and_of_one_s_own():
    assert read_stop_words("auto", "english") == smart_stop_words()
    assert read_stop_words("auto", "german") == frozenset()
    assert read_stop_words("smart", "german") == smart_stop_words()
    assert read_stop_words(None, "english") == frozenset()
    assert read_stop_words(["Und", "it’s"], "english") == {"und", "it's"}
    assert read_stop_words(iter(("a", "b")), "english") == {"a", "b"}


def test_a_stop_word_alone_is_taken_for_a_mistyped_name():
    with pytest.raises(ValueError, match=r"'auto', 'smart', None or .*got 'the'.*=\['the'\]"):
        read_stop_words("the", "english")


@pytest.mark.parametrize(("wrong", "shown"), [([1, 2], "1 .int"), (5, "5 .int"), ([b"a"], "b'a'")])
def test_stop_words_must_be_words(wrong, shown):
    with pytest.raises(TypeError, match=rf"stop_words must be .* words, got {shown}"):
        read_stop_words(wrong, "english")


@pytest.mark.parametrize("language", Stemmer.algorithms())
def test_stems_are_snowball_s_in_every_language(language):
    stem, snowball = snowball_stemmer(language), Stemmer.Stemmer(language)
    for word in ["running", "nationalities", "häuser", "maisons", "книгами", "हिन्दी", "kitaplar"]:
        assert stem(word) == snowball.stemWord(word)


@pytest.mark.parametrize("language", ["klingon", "English", "", None, 3])
def test_an_unknown_language_lists_the_choices(language):
    with pytest.raises(ValueError, match=r"Snowball knows, got .*arabic.*english.*stem=False"):
        snowball_stemmer(language)


def test_without_pystemmer_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "Stemmer", None)
    with pytest.raises(ImportError, match=r'pip install "labelkin\[text\]".*stem=False'):
        snowball_stemmer("english")
