"""Annif's corpora: short texts in TSV and CSV, full texts in folders."""

import pytest

from labelkin.corpora import load
from labelkin.corpora.corpus import read_texts

TEA, SUGAR = "http://example.org/tea", "http://example.org/sugar"
SHORT = f"Tea with sugar\t<{TEA}> <{SUGAR}>\n\nJust tea\t<{TEA}>\r\nWater\t\n"


@pytest.fixture
def write(tmp_path):
    def write_files(**contents):
        for name, content in contents.items():
            path = tmp_path / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content.encode())
        return tmp_path

    return write_files


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("No tab here", r"short\.tsv, line 1: a line must be a text, a tab and URIs, got no tab"),
        (f"Tea\t<{TEA}", rf"line 1: labels must be URIs .* got '<{TEA}'\. Is the file cut off\?"),
        (f"Tea\t<{TEA}><{SUGAR}>", r"line 1: labels must be URIs in angle brackets with blanks"),
        ("", r"short\.tsv: a corpus must have documents, got none"),
    ],
)
def test_a_wrong_line_is_an_error_with_its_number(write, line, message):
    with pytest.raises(ValueError, match=message):
        read_texts(write(short_tsv=line) / "short.tsv", format="annif_tsv")


def test_csv_has_uris_and_maybe_ids(write):
    text = f'document_id,text,subject_uris,title\n1,"Tea, sugar",<{TEA}> <{SUGAR}>,x\n2,Water,,y\n'
    folder = write(a_csv=text, b_csv=f"text,subject_uris\nTea,<{TEA}>\n")
    corpus = read_texts(folder / "a.csv")
    assert corpus.documents.tolist() == ["x\nTea, sugar", "y\nWater"]
    assert corpus.label_sets() == [(SUGAR, TEA), ()]
    assert corpus.ids.tolist() == ["1", "2"]
    assert read_texts(folder / "b.csv").ids is None


def test_full_texts_have_their_labels_beside_them(write):
    folder = write(
        b_txt="Just tea.\nHot.",
        b_tsv=f"<{TEA}>\ttea\tmore\n",
        a_txt="Tea with sugar.",
        a_tsv=f"<{TEA}>\ttea\n\n<{SUGAR}>\n",
        a_key="ignored",
        c_txt="",
        c_tsv="",
    )
    corpus = read_texts(folder, name="drinks")
    assert corpus.ids.tolist() == ["a", "b", "c"]
    assert corpus.documents.tolist() == ["Tea with sugar.", "Just tea.\nHot.", ""]
    assert corpus.label_sets() == [(SUGAR, TEA), (TEA,), ()]
    assert corpus.train.tolist() == [0, 1, 2]


def test_key_files_hold_names_and_folders_make_the_split(write):
    folder = write(
        train__a_txt="x", train__a_key="tea\nhot drinks\n", test__a_txt="y", test__a_key="tea\n"
    )
    corpus = read_texts(folder)
    assert corpus.ids.tolist() == ["train/a", "test/a"]
    assert corpus.label_sets() == [("hot drinks", "tea"), ("tea",)]
    assert corpus.test.tolist() == [1]


def test_a_text_without_labels_beside_it_is_named(write):
    folder = write(a_txt="x", a_key="tea", b_txt="y", c_txt="z")
    with pytest.raises(ValueError, match=r"b\.txt: every text must have a .*, got none"):
        read_texts(folder)


def test_names_and_uris_are_not_mixed(write):
    folder = write(a_txt="x", a_key="tea", b_txt="y", b_tsv=f"<{TEA}>\ttea")
    with pytest.raises(ValueError, match=r"all be URIs \(\.tsv\) or all be names \(\.key\)"):
        read_texts(folder)


def test_load_distinguishes_annif_s_formats_from_other_tables(write):
    folder = write(
        short_tsv=SHORT,
        uris_csv=f"text,subject_uris\nTea,<{TEA}>\n",
        plain_tsv="text\tlabels\n<b>Tea</b>\ttea\n",
        full__a_txt="x",
        full__a_key="tea",
    )
    assert load(folder / "short.tsv").label_names.tolist() == [SUGAR, TEA]
    assert load(folder / "uris.csv").label_names.tolist() == [TEA]
    assert load(folder / "plain.tsv").label_names.tolist() == ["tea"]
    assert load(folder / "full").ids.tolist() == ["a"]


def test_names_beside_uris_are_kept(tmp_path):
    (tmp_path / "a.txt").write_text("Tea with sugar.")
    (tmp_path / "a.tsv").write_text("<u:1>\ttea\n<u:2>\n<u:1>\t\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text("More.")
    (tmp_path / "b.tsv").write_text("<u:2>\tsugar\tS1\n", encoding="utf-8")
    corpus = read_texts(tmp_path)
    assert corpus.display_names == {"u:1": "tea", "u:2": "sugar"}
    assert corpus.label_sets() == [("u:1", "u:2"), ("u:2",)]
