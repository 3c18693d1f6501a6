"""CSV and TSV: tables of pandas and the csv module, and errors with their line."""

import csv
import gzip

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelkin.corpora.corpus import read_texts


@pytest.fixture
def write(tmp_path):
    def write_text(text, name="news.csv"):
        (tmp_path / name).write_bytes(text.encode())
        return tmp_path / name

    return write_text


def test_a_table_becomes_a_corpus(write):
    corpus = read_texts(
        write(
            "id,text,labels,split,year\r\n"
            '1,"Tea, ""please"".\r\nNow.",tea;,train,1999\r\n'
            "\r\n"
            "2,Sugar?, tea ; sugar,test,\r\n"
            "3,,,train,\r\n"
        )
    )
    assert corpus.name == "news"
    assert corpus.documents.tolist() == ['Tea, "please".\r\nNow.', "Sugar?", ""]
    assert corpus.label_sets() == [("tea",), ("sugar", "tea"), ()]
    assert corpus.ids.tolist() == ["1", "2", "3"]
    assert corpus.train.tolist() == [0, 2]
    assert corpus.test.tolist() == [1]


def test_columns_separators_and_delimiters_can_be_named(write):
    path = write("abstract|topics#nr\nTea|hot drink / tea#1\n".replace("#", "|"), name="a.dat")
    corpus = read_texts(
        path,
        columns={"text": "abstract", "labels": "topics", "id": "nr"},
        separator="/",
        delimiter="|",
        name="drinks",
    )
    assert corpus.name == "drinks"
    assert corpus.label_sets() == [("hot drink", "tea")]
    assert corpus.ids.tolist() == ["1"]
    assert corpus.train.tolist() == [0]


def test_half_quotes_are_an_error(write):
    with pytest.raises(ValueError, match=r"x\.tsv, line 2: .* cut off\? Double the quotes"):
        read_texts(write('text\tlabels\n"Tea\ttea\n', name="x.tsv"))


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r")),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from([("any.csv", ","), ("any.tsv", "\t"), ("any.csv.gz", ",")]),
)
def test_tables_of_pandas_are_read_back(tmp_path_factory, texts, form):
    name, delimiter = form
    path = tmp_path_factory.mktemp("any") / name
    frame = pd.DataFrame({"text": texts, "labels": ["tea"] * len(texts)})
    frame.to_csv(path, sep=delimiter, index=False)
    assert read_texts(path).documents.tolist() == texts


def test_a_text_may_be_longer_than_csv_allows_and_the_limit_stays(write):
    before = csv.field_size_limit(1000)
    text = "tea " * 100_000
    assert read_texts(write(f"text,labels\n{text},tea\n")).documents[0] == text
    assert csv.field_size_limit(before) == 1000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"news\.csv: a table must begin with a header, got an empty file"),
        ("title,text\nx,y\n", r"the header must name 'labels', got 'title', 'text'\."),
        (
            "a;b\nx;y\n",
            r"must name 'text', 'labels', got 'a', 'b'\. No header\? Add a first row .*\. "
            r"Pass columns=\{'text': 'NAME', 'labels': 'NAME'\}\.",
        ),
        ("id,text,labels,id\n1,b,c,1\n", r"a column must be in the header once, got 'id' again"),
        ("text,labels\nx,y\nx\n", r"news\.csv, line 3: .* the header's 2 cells, got 1\."),
        ("text,labels\nx,y,z\n", r"news\.csv, line 2: .* the header's 2 cells, got 3\."),
        ('text,labels\nx,y\n"x\n\n,y\n', r"news\.csv, line 3: a row must .* unexpected end"),
        ('text,labels\n"x"x,y\n', r"news\.csv, line 2: a row must be cells in whole quotes"),
        ("text,labels,split\nx,y,dev\n", r"line 2: 'split' must be 'train' or 'test', got 'dev'"),
        ("text,labels,split\nx,y,test\nx,y,\n", r"line 3: either every document .* 1 of 2"),
        ("id,text,labels\n1,x,y\n1,x,y\n", r"line 3: ids must be distinct, got '1' again, .* 2\."),
    ],
)
def test_a_wrong_table_is_an_error_with_its_line(write, text, message):
    with pytest.raises(ValueError, match=message):
        read_texts(write(text))


def test_wrong_parameters_are_errors(write):
    path = write("text\nx\n", name="news.txt")
    with pytest.raises(ValueError, match=r"'labels' must be of a table .* news\.txt is text"):
        read_texts(path)
    path = write("text,labels\nx,y\n", name="news.dat")
    with pytest.raises(ValueError, match=r"columns must be one of 'text', .* got 'body'"):
        read_texts(path, columns={"body": "text"}, delimiter=",")
    with pytest.raises(ValueError, match=r"the header must name 'nr', got 'text', 'labels'"):
        read_texts(path, columns={"id": "nr"}, delimiter=",")
    with pytest.raises(ValueError, match="separator must be at least one character"):
        read_texts(path, separator="", delimiter=",")


def test_a_truncated_gzip_file_is_an_error(tmp_path):
    path = tmp_path / "cut.tsv.gz"
    path.write_bytes(gzip.compress(b"text\tlabels\nx\ty\n")[:-3])
    with pytest.raises(ValueError, match=r"cut\.tsv\.gz, line \d: .*cut off\?"):
        read_texts(path)
