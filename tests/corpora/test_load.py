"""The table of known corpora, and loading: by name, from a folder, from a file of any format."""

import re

import pytest
from benchmarks.corpus import DATA

from labelkin.corpora import KNOWN, CorpusNotFound, find, load

ARFF = """@relation '{relation}'
@attribute wordy numeric
@attribute tea {{0,1}}
@attribute sugar {{0,1}}
@data
{rows}
"""
XML = """<?xml version="1.0"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="tea"></label><label name="sugar"></label>
</labels>
"""


@pytest.fixture(autouse=True)
def homes(tmp_path, monkeypatch):
    """Both data folders, empty."""
    monkeypatch.setenv("LABELKIN_DATA", str(tmp_path / "shared"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user"))
    return tmp_path / "shared", tmp_path / "user" / "labelkin"


def write_mulan(folder, name="emotions"):
    folder.mkdir(parents=True)
    (folder / f"{name}.xml").write_text(XML)
    for part, rows in {"train": "0.5,1,0\n1.5,1,1", "test": "2.5,0,1"}.items():
        (folder / f"{name}-{part}.arff").write_text(ARFF.format(relation=name, rows=rows))
    return folder


def write_ohsumed(path):
    """Write three abstracts, one of them in two categories."""
    for name in ("training/C01/01", "training/C02/01", "training/C02/02", "test/C01/03"):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(f"abstract {name[-2:]}")
    return path


@pytest.mark.parametrize("corpus", KNOWN.values(), ids=lambda corpus: corpus.name)
def test_an_entry_has_title_licence_source_and_checksums(corpus):
    assert corpus.title
    assert corpus.licence
    assert corpus.name == "newsroom" or corpus.home.startswith("http")
    assert bool(corpus.folder) == bool(corpus.signs) == (corpus.name != "newsroom")
    assert corpus.files or corpus.by_hand
    for file in corpus.files:
        assert all(url.startswith(("https://", "http://")) for url in file.urls)
        assert not file.urls[0].startswith("https://ndownloader"), "the official home comes first"
        assert re.fullmatch("([0-9a-f]{64})?", file.sha256)
        assert bool(file.sha256) == bool(file.sha256_source)


def test_the_data_folder_has_priority_over_the_user_folder(homes):
    shared, user = homes
    assert find("emotions") is None
    write_mulan(user / "mulan" / "emotions")
    assert find("emotions") == user / "mulan" / "emotions"
    write_mulan(shared / "mulan" / "emotions")
    assert find("emotions") == shared / "mulan" / "emotions"
    assert load("emotions").label_sets() == [("tea",), ("tea", "sugar"), ("sugar",)]


def test_the_error_for_a_missing_corpus_lists_the_searched_folders(homes):
    with pytest.raises(CorpusNotFound) as caught:
        load("reuters21578")
    assert isinstance(caught.value, FileNotFoundError)
    message = str(caught.value)
    for home in homes:
        assert str(home / "reuters21578") in message
    assert "reut2-*.sgm" in message
    assert "labelkin corpus fetch reuters21578" in message


def test_a_folder_of_something_else_is_not_the_corpus(homes, tmp_path):
    write_mulan(homes[0] / "rcv1")
    with pytest.raises(CorpusNotFound, match=r"rcv1 must have lyrl2004_\*_train\.dat\*, .* fetch"):
        load("rcv1")
    with pytest.raises(CorpusNotFound, match=r"and .*/nowhere does not .* pass its folder as path"):
        load("rcv1", tmp_path / "nowhere")
    with pytest.raises(CorpusNotFound, match=r"It has no official home\. Put rcv1-sample-30000"):
        load("rcv1-sample")


def test_ohsumed_is_read_from_full_texts_where_they_are(homes):
    folder = homes[0] / "ohsumed"
    folder.mkdir(parents=True)
    words = "\n".join(["1,0,1"] * 13929)
    meka = ARFF.format(relation="OHSUMED: -C -2", rows=words)
    (folder / "OHSUMED-F.arff").write_text(meka)
    assert (len(load("ohsumed23").train), len(load("ohsumed23").test)) == (6286, 7643)
    assert load("ohsumed23", folder / "OHSUMED-F.arff").documents.shape == (13929, 1)
    write_ohsumed(folder / "unpacked")
    corpus = load("ohsumed23")
    assert corpus.name == "ohsumed23"
    assert corpus.label_sets() == [("C01", "C02"), ("C02",), ("C01",)]
    assert load("ohsumed23").documents.tolist() == ["abstract 01", "abstract 02", "abstract 03"]


def test_names_and_paths_are_distinguished(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"got 'emotion'\. Known corpora: 'newsroom', 'reuters2"):
        load("emotion")
    with pytest.raises(CorpusNotFound, match=r"There is no file or folder 'emotion\.jsonl'"):
        load("emotion.jsonl")
    with pytest.raises(CorpusNotFound, match=r"There is no file or folder 'data/emotion'"):
        load("data/emotion")
    with pytest.raises(ValueError, match=r"name must be a known corpus, got 'mine'"):
        load("mine", tmp_path)
    (tmp_path / "newsroom").mkdir()
    assert load("newsroom").name == "newsroom"


def test_formats_of_the_known_corpora_are_recognised(tmp_path):
    folder = write_mulan(tmp_path / "music", name="any")
    assert load(folder).Y.shape == (3, 2)
    train, test = (load(folder / f"any-{part}.arff") for part in ("train", "test"))
    assert (train.name, test.name) == ("any-train", "any-test")
    assert train.Y.shape[0] + test.Y.shape[0] == 3
    meka = folder / "meka.arff"
    meka.write_text(ARFF.format(relation="drinks: -C -2", rows="1,0,1"))
    assert load(meka).Y.shape == (1, 2)
    assert load(write_ohsumed(tmp_path / "abstracts")).Y.shape == (3, 2)


def test_an_arff_file_takes_the_xml_file_of_its_name(tmp_path):
    folder = write_mulan(tmp_path / "music", name="any")
    (folder / "other.xml").write_text(XML.replace("label name", "label unknown"))
    assert load(folder / "any-test.arff").Y.shape[1] == 2
    (folder / "any.xml").rename(folder / "third.xml")
    with pytest.raises(FileNotFoundError, match=r"one file \*\.xml, .* labels any-test.xml"):
        load(folder / "any-test.arff")


def test_an_unknown_format_lists_the_known_ones(tmp_path):
    for path in (tmp_path / "notes.txt", tmp_path / "table.xlsx"):
        path.write_text("not a corpus")
        with pytest.raises(ValueError, match=r"known format: JSON \(\.json, .*Annif"):
            load(path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"empty must be a corpus in a known format"):
        load(tmp_path / "empty")


@pytest.mark.parametrize(
    ("name", "n_train", "n_test", "n_labels", "cardinality"),
    [
        ("ohsumed23", 6286, 7643, 23, 1.663),
        ("emotions", 391, 202, 6, 1.868),
        ("medical", 333, 645, 45, 1.245),
        ("enron", 1123, 579, 53, 3.378),
    ],
)
def test_real_corpora_are_found_by_name(monkeypatch, name, n_train, n_test, n_labels, cardinality):
    monkeypatch.setenv("LABELKIN_DATA", str(DATA))
    if find(name) is None:
        pytest.skip(f"no {name} in {DATA}: set LABELKIN_DATA")
    corpus = load(name)
    assert corpus.name == name
    assert (len(corpus.train), len(corpus.test)) == (n_train, n_test)
    assert corpus.Y.shape == (n_train + n_test, n_labels)
    assert round(corpus.Y.sum() / corpus.Y.shape[0], 3) == cardinality
