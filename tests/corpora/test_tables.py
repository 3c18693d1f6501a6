"""Detection of encodings, delimiters, separators and formats."""

import gzip
import json

import pytest

from labelkin.corpora import Documents, load
from labelkin.corpora.corpus import read_texts
from labelkin.corpora.tables import find_separator

URI = "http://example.org/tea"


def write(folder, name, content, encoding="utf-8"):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "utf-16-le"])
@pytest.mark.parametrize("delimiter", [";", ",", "\t", "|"])
def test_tables_of_spreadsheets_are_read_without_options(tmp_path, encoding, delimiter):
    other = "|" if delimiter == ";" else ";"
    rows = [["Nr", "Text", "Labels"], ["1", "Über Öl", f"Öl {other} Gas {other}"], ["2", "n", ""]]
    text = "".join(delimiter.join(row) + "\r\n" for row in rows)
    corpus = load(write(tmp_path, "a.csv", text, encoding))
    assert corpus.documents.tolist() == ["Über Öl", "n"]
    assert corpus.label_sets() == [("Gas", "Öl"), ()]
    assert f"separator {other!r}" in corpus.understood
    assert ("semicolons" in corpus.understood) == (delimiter == ";")
    assert ("encoding" in corpus.understood) == (not encoding.startswith("utf-8"))


def test_damaged_utf8_is_not_taken_for_another_encoding(tmp_path):
    text = "text,labels\n" + "Tee für alle,tee\n" * 5
    damaged = text.encode().replace("ü".encode(), b"\xfc", 1)
    with pytest.raises(ValueError, match="line 2: the text must be utf-8, got 0xFC"):
        load(write(tmp_path, "a.csv", damaged))


def test_ascii_for_megabytes_and_then_windows(tmp_path):
    lines = ["text,labels"] + ["word " * 20 + ",tea"] * 20_000 + ["café – “quoted”,tea"]
    corpus = load(write(tmp_path, "a.csv", "\n".join(lines), "cp1252"))
    assert corpus.documents[-1] == "café – “quoted”"


def test_an_ambiguous_separator_is_an_error(tmp_path):
    names = [f"Last{i}, First{i}" for i in range(30)]
    path = write(tmp_path, "a.csv", "text\tlabels\n" + "".join(f"x\t{n}\n" for n in names))
    with pytest.raises(
        ValueError, match=r"a\.csv: ',' is in 100% .* the separator is ';'\)\? Pass separator=','"
    ):
        load(path)
    assert load(path, separator=";").Y.shape == (30, 30)
    assert load(path, separator=",").Y.shape == (30, 60)


def test_commas_separate_labels_that_are_repeated():
    cells = [
        "tea, sugar",
        "milk, tea",
        "sugar, milk, tea",
        "sugar",
        "tea, milk",
        "tea,gin,milk",
    ] * 3
    assert find_separator(cells, "f") == ","
    assert find_separator(["tea"] * 20, "f") is None
    authors = [f"Last{i}, First{i}; Last{i + 1}, First{i + 1}" for i in range(20)]
    assert find_separator(authors, "f") == ";"


def test_json_lines_of_annif_need_no_option(tmp_path):
    lines = [
        {"document_id": "a", "text": "Tea.", "subjects": [{"uri": URI, "label": "tea"}]},
        {"document_id": "b", "metadata": {"title": "Hot"}, "subjects": [{"label": "drink"}]},
        {"document_id": "c", "text": "x", "subjects": [], "metadata": {"title": "y"}},
    ]
    content = "\n".join(map(json.dumps, lines))
    corpus = load(write(tmp_path, "a.jsonl.gz", gzip.compress(content.encode())))
    assert corpus.ids.tolist() == ["a", "b", "c"]
    assert corpus.documents.tolist() == ["Tea.", "Hot", "y\nx"]
    assert corpus.label_sets() == [(URI,), ("drink",), ()]
    assert corpus.display_names == {URI: "tea"}
    assert "labels from 'subjects'" in corpus.understood


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("several", [False, True])
def test_json_files_contain_an_object_or_a_list(tmp_path, indent, several):
    one = {"text": "Tea", "labels": ["tea"]}
    path = write(tmp_path, "a.json", json.dumps([one, one] if several else one, indent=indent))
    assert [d.text for d in Documents(path)] == ["Tea"] * (1 + several)
    path.write_text('[{"text": "a"}, 3]')
    with pytest.raises(ValueError, match=r"a\.json, object 2: a document must be a JSON object"):
        list(Documents(path))
    path.write_text('{\n"text": ')
    with pytest.raises(
        ValueError, match=r"a\.json: a file must be a JSON object or a list of them"
    ):
        list(Documents(path))


def test_a_folder_of_annif_s_json_documents(tmp_path):
    for name, subjects in (("b", [{"uri": URI}]), ("a", [])):
        document = {"text": name, "subjects": subjects}
        write(tmp_path, f"{name}.json", json.dumps(document, indent=2))
    write(tmp_path, "c.txt", "c")
    write(tmp_path, "c.tsv", f"<{URI}>\ttea\n")
    write(tmp_path, "c.json", "not looked at")
    corpus = load(tmp_path)
    assert corpus.ids.tolist() == ["a", "b", "c"]
    assert corpus.documents.tolist() == ["a", "b", "c"]
    assert corpus.label_sets() == [(), (URI,), (URI,)]
    assert corpus.display_names == {URI: "tea"}


def test_several_files_and_folders_are_one_corpus(tmp_path):
    first = write(tmp_path, "one/a.csv", "text;labels\nTea;tea\n")
    write(tmp_path, "two/b.jsonl", '{"text": "Milk", "labels": ["milk"]}')
    write(tmp_path, "two/c.tsv", f"Water\t<{URI}>\n")
    corpus = load([first, tmp_path / "two"])
    assert corpus.documents.tolist() == ["Tea", "Milk", "Water"]
    assert corpus.understood.startswith("a.csv: columns separated by semicolons, text from 'text'")
    assert "; b.jsonl: text from 'text', labels from 'labels'" in corpus.understood
    with pytest.raises(ValueError, match="'newsroom' is one by itself"):
        load([first, "newsroom"])
    with pytest.raises(ValueError, match=r"read as one corpus if they are texts, and .*x\.svm"):
        load([first, write(tmp_path, "x.svm", "1 1:1\n")])


def test_documents_of_several_files_have_distinct_ids(tmp_path):
    first = write(tmp_path, "a.csv", "Nr;text;labels\n1;Tea;tea\n2;Milk;milk\n")
    second = write(tmp_path, "b.csv", "Nr;text;labels\n1;Water;tea\n")
    unnamed = write(tmp_path, "c.jsonl", '{"text": "Juice", "labels": ["milk"]}')
    columns = {"id": "Nr"}
    assert load(first, columns=columns).ids.tolist() == ["1", "2"]
    ids = load([first, second], columns=columns).ids.tolist()
    assert ids == ["a.csv:1", "a.csv:2", "b.csv:1"]
    ids = load([write(tmp_path, "d.csv", "id,text,labels\n7,Tea,tea\n"), unnamed]).ids.tolist()
    assert ids == ["d.csv:7", "c.jsonl:1"]
    assert load([unnamed, write(tmp_path, "e.csv", "text,labels\nTea,tea\n")]).ids is None


def test_files_called_train_and_test_are_the_split(tmp_path):
    for name in ("test", "train"):
        write(tmp_path, f"{name}.csv", f"text,labels\n{name},tea\n")
    corpus = load(tmp_path)
    assert corpus.documents[corpus.train].tolist() == ["train"]
    assert corpus.documents[corpus.test].tolist() == ["test"]
    corpus = read_texts(tmp_path / "test.csv", tmp_path / "train.csv")
    assert corpus.documents[corpus.test].tolist() == ["train"]


def test_documents_without_labels_can_be_left_out(tmp_path):
    text = "id,text,labels,split\n1,a,tea,train\n2,b,,train\n3,c,,test\n4,d,milk;tea,test\n"
    corpus = load(write(tmp_path, "a.csv", text))
    assert corpus.is_labelled.tolist() == [True, False, False, True]
    kept = corpus.labelled()
    assert (kept.ids.tolist(), kept.train.tolist(), kept.test.tolist()) == (["1", "4"], [0], [1])
    assert kept.label_sets() == [("tea",), ("milk", "tea")]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("book.xlsx", b"PK\x03\x04\x14\0\6\0", "as .xlsx, .docx"),
        ("page.png", b"\x89PNG\r\n\x1a\n\0\0", "a picture"),
        ("paper.pdf", b"%PDF-1.7\n%\xe2\xe3", "a PDF"),
    ],
)
def test_a_binary_file_is_an_error_with_a_hint(tmp_path, name, content, said):
    path = tmp_path / name
    path.write_bytes(content)
    wanted = rf"{name} must be a text file, and is .*{said}.*Save a table as CSV"
    with pytest.raises(ValueError, match=wanted):
        load(path)
    with pytest.raises(ValueError, match=wanted):
        list(Documents(path))
