"""Reuters-21578: tiny files of our own, then the counts of the distribution itself."""

import numpy as np
import pytest
from benchmarks.corpus import DATA
from benchmarks.reuters import read_stories

from labelkin.corpora.published.texts import read_reuters21578

DOCTYPE = '<!DOCTYPE lewis SYSTEM "lewis.dtd">\n'
FOLDER = DATA / "reuters21578"
needs_reuters = pytest.mark.skipif(
    not list(FOLDER.glob("*.sgm")), reason=f"no Reuters-21578 in {DATA}: set LABELKIN_DATA"
)


def story(
    newid,
    topics=("tea",),
    *,
    lewis="TRAIN",
    was_given="YES",
    hayes="TRAINING-SET",
    text="<TEXT>&#2;\n<TITLE>Tea</TITLE>\n<DATELINE> DEAL, May 1 - </DATELINE>"
    "<BODY>Tea &lt;fine> &amp; dear.\n Reuter\n&#3;</BODY></TEXT>",
):
    marked = "".join(f"<D>{topic}</D>" for topic in topics)
    return (
        f'<REUTERS TOPICS="{was_given}" LEWISSPLIT="{lewis}" CGISPLIT="{hayes}" OLDID="7" '
        f'NEWID="{newid}">\n<DATE>1-MAY-1987</DATE>\n<TOPICS>{marked}</TOPICS>\n'
        f"<PLACES><D>deal</D></PLACES>\n{text}\n</REUTERS>\n"
    )


TWO = story(1) + story(2, lewis="TEST", hayes="PUBLISHED-TESTSET")


def write(folder, *files):
    for k, stories in enumerate(files):
        (folder / f"reut2-{k:03}.sgm").write_text(DOCTYPE + stories, encoding="latin-1")
    return folder


def read(folder, *files, **options):
    return read_reuters21578(write(folder, *files), complete=False, **options)


def test_text_is_title_and_body_without_mark_up(tmp_path):
    corpus = read(tmp_path, TWO)
    assert corpus.documents.tolist() == ["Tea\nTea <fine> & dear.\n Reuter"] * 2
    assert (corpus.features, corpus.name) == ("text", "reuters21578")


def test_a_brief_story_has_no_placeholder_and_an_unstructured_one_is_all_body(tmp_path):
    brief = '<TEXT TYPE="BRIEF">\n******<TITLE>UP</TITLE>Blah blah blah.\n&#3;</TEXT>'
    raw = '<TEXT TYPE="UNPROC">&#2;\nRYE   OPEN\n&#3;</TEXT>'
    files = TWO + story(3, text=brief) + story(4, text=raw)
    assert read(tmp_path, files).documents[2:].tolist() == ["UP", "RYE   OPEN"]
    titled = read(tmp_path, files, field="titled_text").documents
    assert titled[2:].tolist() == ["UP\n", "\nRYE   OPEN"]


def test_labels_are_the_topics_of_both_parts_and_other_documents_stay(tmp_path):
    files = story(1, ["tea", "jute"]) + story(2, []) + story(3, ["rye"])
    corpus = read(tmp_path, files, story(4, ["tea", "tin", "tea"], lewis="TEST"))
    assert corpus.label_names.tolist() == ["tea"]
    assert corpus.label_sets() == [("tea",), (), (), ("tea",)]
    assert corpus.ids.tolist() == [1, 2, 3, 4]
    assert (corpus.train.tolist(), corpus.test.tolist()) == ([0, 1, 2], [3])


@pytest.mark.parametrize(
    ("split", "train", "test"),
    [("modapte", [1], [2]), ("modlewis", [1, 3], [2, 4]), ("modhayes", [1, 2, 3, 5, 6], [4])],
)
def test_splits_use_the_documents_of_the_readme(tmp_path, split, train, test):
    stories = [
        story(1),
        story(2, lewis="TEST"),
        story(3, was_given="NO"),
        story(4, lewis="TEST", was_given="NO", hayes="PUBLISHED-TESTSET"),
        story(5, was_given="BYPASS"),
        story(6, lewis="NOT-USED"),
    ]
    corpus = read(tmp_path, "".join(stories), split=split)
    assert corpus.ids[corpus.train].tolist() == train
    assert corpus.ids[corpus.test].tolist() == test


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (
            TWO[:-12],
            r"reut2-000.sgm, line 12: a document must be <REUTERS …> to </REUTERS>, got '<",
        ),
        (
            TWO.replace("</REUTERS>\n", "", 1),
            r"line 2: a document must be <REUTERS …> to </REUTERS>",
        ),
        ("</REUTERS>\n" + TWO, r"line 1: the file must begin with <!DOCTYPE lewis"),
        (TWO + "tail", r"line 12: a document must be <REUTERS …> .*tail'"),
        (TWO.replace('"TRAIN"', '"TRIAN"'), r"line 2: a REUTERS tag must have LEWISSPLIT=TRAIN"),
        (story("x"), r"line 2: a REUTERS tag must have NEWID=\[0-9\]\+, got 'x'"),
        (TWO.replace("</TEXT>", ""), r"line 2: .* must have one <TEXT>…</TEXT>, got 0"),
        (story(1), r"'modapte' must have topics with both .* 1 training and 0 test documents"),
    ],
)
def test_a_damaged_file_is_named_with_its_line(tmp_path, text, match):
    with pytest.raises(ValueError, match=match):
        read(tmp_path, text)


def test_an_incomplete_distribution_is_an_error(tmp_path):
    with pytest.raises(ValueError, match=r"21578 documents in 22 files, got 2 in 1 files: .*False"):
        read_reuters21578(write(tmp_path, TWO))


@pytest.fixture(scope="module")
def modapte():
    return read_reuters21578(FOLDER)


@needs_reuters
def test_modapte_is_the_one_of_the_literature(modapte):
    sizes = modapte.Y.sum(axis=1)
    assert (len(modapte.train), len(modapte.test)) == (9603, 3299)
    assert modapte.Y.shape == (12902, 90)
    labelled = [sizes[part][sizes[part] > 0] for part in (modapte.train, modapte.test)]
    assert [len(part) for part in labelled] == [7770, 3019]
    assert [round(part.mean(), 3) for part in labelled] == [1.234, 1.240]
    assert all(modapte.documents)
    assert not any("Blah blah blah" in text for text in modapte.documents)


@needs_reuters
def test_modapte_has_the_label_sets_of_an_independent_reader(modapte):
    theirs = [story.topics for part in read_stories(FOLDER) for story in part]
    order = np.concatenate([modapte.train, modapte.test])
    ours = [frozenset(labels) for labels in modapte.label_sets(order) if labels]
    assert ours == theirs
