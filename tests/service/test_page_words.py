"""The words of the page: every language has the same keys, and the page's markup agrees."""

import json
import re
from pathlib import Path

import pytest

import labelkin.service

PAGE = Path(labelkin.service.__file__).parent / "page"
WORDS = {path.stem: json.loads(path.read_text("utf-8")) for path in (PAGE / "words").glob("*.json")}


def forms(entry):
    """Return the texts of a key: one, or one for each number."""
    return [entry] if isinstance(entry, str) else list(entry.values())


def fields(text):
    return set(re.findall(r"\{(\w+)\}", text))


@pytest.mark.parametrize("language", sorted(WORDS))
def test_every_language_has_the_same_keys_and_fields(language):
    words, english = WORDS[language], WORDS["en"]
    assert words.keys() == english.keys()
    for key, entry in words.items():
        assert all(text.strip() for text in forms(entry)), key
        assert isinstance(entry, str) == isinstance(english[key], str), key
        if not isinstance(entry, str):
            assert {"one", "other"} <= entry.keys(), key
        wanted = set().union(*map(fields, forms(english[key])))
        assert set().union(*map(fields, forms(entry))) == wanted, key


def test_used_keys_and_existing_keys_are_the_same():
    code = "\n".join(path.read_text("utf-8") for path in PAGE.glob("*.js"))
    markup = "\n".join(path.read_text("utf-8") for path in PAGE.glob("*.html"))
    named = set(re.findall(r'\bt(?:Parts)?\(\s*"([^"]+)"', code)) | set(
        re.findall(r'data-t="([^"]+)"', code + markup)
    )
    assert named <= WORDS["en"].keys()
    # Keys that are put together: `accept.label`, `review.kind-twin`, `part.prior`.
    pattern = re.findall(r"`([\w.-]*)\$\{\w+(?:\.\w+)*\}([\w.-]*)`", code)
    made = [re.compile(re.escape(a) + r"[\w -]+" + re.escape(b)) for a, b in pattern if a + b]
    texts = set(re.findall(r'"([^"\n]+)"', code))
    texts |= {
        key
        for pairs in re.findall(r'data-t-attributes="([^"]+)"', markup)
        for key in re.findall(r"=(\S+)", pairs)
    }
    for key in WORDS["en"]:
        assert key in named | texts or any(one.fullmatch(key) for one in made), key
