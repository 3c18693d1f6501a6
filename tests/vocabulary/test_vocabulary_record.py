"""Vocabularies: names by language, replaced concepts, narrower ones, matching."""

import pytest

from labelkin.vocabulary import Concept, Vocabulary

CONCEPTS = [
    Concept("u:animal", {"en": "animal", "de": "Tier"}, "1"),
    Concept(
        "u:dog", {"en": "dog", "de": "Hund"}, "1.1", {"en": ("hound", "canine")}, ("u:animal",),
    ),
    Concept("u:poodle", {"en": "poodle"}, "1.1.1", {"de": ("Königspudel",)}, ("u:dog",)),
    Concept("u:none"),
]  # fmt: skip


@pytest.fixture
def pets():
    return Vocabulary.of(
        reversed(CONCEPTS),
        name="pets",
        language="de",
        disjoint=[("u:poodle", "u:none"), ("u:poodle", "u:elsewhere")],
        replaced={"u:hound": "u:mutt", "u:mutt": "u:dog", "u:a": "u:b", "u:b": "u:a"},
    )


def test_concepts_are_returned_unchanged(pets):
    assert sorted(pets) == sorted(CONCEPTS)
    assert [concept.uri for concept in pets] == list(pets.uris) == sorted(pets.uris)
    with pytest.raises(KeyError, match="pets has no concept 'u:cat'"):
        pets.concept("u:cat")


def test_a_missing_name_is_shown_in_another_language(pets):
    assert pets.name_of("u:dog") == "Hund"
    assert pets.name_of("u:dog", "en") == pets.name_of("u:dog", "EN-gb") == "dog"
    assert pets.name_of("u:dog", "fi") == "Hund"
    assert pets.name_of("u:poodle") == "poodle"
    assert pets.name_of("u:none") == "u:none"
    assert pets.name_of("u:cat") == "u:cat"


def test_replaced_concepts_are_followed_and_circles_are_not(pets):
    assert pets.current("u:hound") == pets.current("u:mutt") == "u:dog"
    assert pets.name_of("u:hound", "en") == "dog"
    assert pets.current("u:a") == "u:a"
    assert len(pets) == 4


def test_narrower_concepts_are_found_at_any_depth_and_in_circles(pets):
    assert pets.narrower(["u:animal"]) == {"u:animal", "u:dog", "u:poodle"}
    assert pets.narrower(["u:nowhere"]) == set()
    ring = Vocabulary.of([Concept("a", broader=("b",)), Concept("b", broader=("a", "b"))])
    assert ring.narrower(["a"]) == {"a", "b"}


def test_labels_are_matched_by_uri_notation_or_the_language_that_fits_most(pets):
    named = [pets.uris[i] for i in pets.match(["u:dog", "u:hound", "u:animal"])]
    assert named == ["u:dog", "u:dog", "u:animal"]
    assert [pets.uris[i] for i in pets.match(["1.1", "1"])] == ["u:dog", "u:animal"]
    assert [pets.uris[i] for i in pets.match(["Hund", "Tier"])] == ["u:dog", "u:animal"]
    found = pets.match(["dog", "poodle", "Tier"])
    assert [None if i is None else pets.uris[i] for i in found] == ["u:dog", "u:poodle", None]
    assert pets.match(["cat"]) == [None]


def test_a_name_of_two_concepts_matches_neither():
    banks = Vocabulary.of([Concept("1", {"en": "bank"}), Concept("2", {"en": "bank"})])
    assert banks.match(["bank"]) == [None]


def test_names_are_shown_in_a_language_that_is_there(pets):
    assert pets.shown_in("EN").name_of("u:dog") == "dog"
    assert pets.shown_in(None).language == "en"
    with pytest.raises(ValueError, match="one of its languages, 'de', 'en', got 'fi'"):
        pets.shown_in("fi")


def test_names_without_a_language_take_the_given_one():
    names = Vocabulary.of([Concept("u:1", {"": "tea"})], language="")
    assert names.languages == ()
    assert names.name_of("u:1") == names.name_of("u:1", "en") == "tea"
    assert names.shown_in("fi").languages == ("fi",)
