"""The labels of a model: shown, searched, chosen by name."""

import pytest

from labelkin.vocabulary import Concept, LabelNames, Vocabulary

PETS = Vocabulary.of(
    [
        Concept("http://x.org/1", {"en": "animal", "de": "Tier"}, "A"),
        Concept(
            "http://x.org/2", {"en": "dog", "de": "Hund"}, "B", {"en": ("hound",)},
            ("http://x.org/1",),
        ),
        Concept("http://x.org/3", {"en": "cat", "de": "Katze"}, "C", {}, ("http://x.org/1",)),
        Concept("http://x.org/4", {"en": "mercury", "de": "Merkur"}),
        Concept("http://x.org/5", {"en": "mercury", "de": "Quecksilber"}),
    ],
    name="pets",
    language="en",
    replaced={"http://x.org/0": "http://x.org/2"},
)  # fmt: skip
LABELS = [f"http://x.org/{i}" for i in (2, 3, 4, 5)] + ["other"]


@pytest.fixture
def names():
    return LabelNames(LABELS, PETS)


def test_names_are_those_of_the_concepts(names):
    assert names.all() == ["dog", "cat", "mercury", "mercury", "other"]
    assert names.all("de") == ["Hund", "Katze", "Merkur", "Quecksilber", "other"]
    assert names.of("http://x.org/3", "de") == "Katze"
    assert names.of("http://x.org/1") == "animal"
    assert names.uri("other") == names.of("other") == "other"
    assert names.notation(LABELS[0]) == "B"
    assert names.notation(LABELS[2]) is names.notation("other") is None
    assert names.n_named == 4


def test_without_a_vocabulary_labels_are_their_names():
    names = LabelNames([3, "tea"])
    assert names.all("de") == ["3", "tea"]
    assert names.uri(3) == names.of(3) == "3"
    assert names.notation("tea") is None
    assert [found.column for found in names.search("E")] == [1]
    assert names.allowed(exclude=["tea"]).tolist() == [True, False]


def test_a_label_is_found_by_any_unambiguous_text(names):
    dog = LABELS[0]
    for text in (dog, "http://x.org/0", "dog", "HUND", "b", "Hound"):
        assert names.label(text) == dog
    assert names.label("other") == "other"
    assert names.label("Merkur") == LABELS[2]
    assert names.label("mercury") is None
    assert names.label("animal") is None


def test_unknown_labels_are_errors_with_a_hint(names):
    with pytest.raises(ValueError, match=r"--accept must be one of the 5 .*'dogg'.*mean 'dog'\?"):
        names.read("dogg", "--accept")
    with pytest.raises(ValueError, match=r"one label, got 'mercury', which is .*/4', .*/5'"):
        names.read("mercury", "--accept")
    with pytest.raises(ValueError, match=r"It has 'dog', 'cat'"):
        names.read("xyzzy", "--accept")


def searched(names, *arguments):
    return [(LABELS[column][-1], matched) for column, matched in names.search(*arguments)]


def test_alternative_labels_and_notations_are_found(names):
    assert searched(names, "ou") == [("2", "hound")]
    assert searched(names, "hun", "de") == [("2", "Hund")]
    assert searched(names, "c") == [("3", "cat"), ("4", "mercury"), ("5", "mercury")]
    assert searched(names, "b") == [("2", "B")]
    assert searched(names, "http://x.org/3") == [("3", "http://x.org/3")]
    assert searched(names, "nothing like it") == []


def test_names_in_other_languages_are_found_where_nothing_else_is(names):
    assert searched(names, "katze") == [("3", "Katze")]
    assert len(names.search("")) == 5


def test_concepts_are_chosen_with_narrower_ones(names):
    assert names.allowed().all()
    assert names.allowed(exclude=["animal"]).tolist() == [False, False, True, True, True]
    assert names.allowed(include=["Tier"]).tolist() == [True, True, False, False, False]
    both = names.allowed(include=["http://x.org/1"], exclude=["cat"])
    assert both.tolist() == [True, False, False, False, False]
    assert names.allowed(include=["other"]).sum() == 1
    with pytest.raises(ValueError, match=r"--exclude must be one of.*'plant'"):
        names.allowed(exclude=["plant"])
    with pytest.raises(ValueError, match="must leave a label"):
        names.allowed(include=["dog"], exclude=["animal"])
