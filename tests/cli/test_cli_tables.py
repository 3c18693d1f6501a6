"""Tables as catalogues and spreadsheets export them, read by the commands that users run."""

import json

import pytest
from cli.in_process import call

from labelkin import corpora
from labelkin.curation.corrections import fingerprint_of
from labelkin.storage import read_header

SMALL = ("--min-documents", 1)


def table(path, header, rows, delimiter=",", encoding="utf-8"):
    lines = [delimiter.join(header), *(delimiter.join(row) for row in rows)]
    path.write_bytes(("\n".join(lines) + "\n").encode(encoding))
    return path


@pytest.fixture(scope="module")
def drinks(tmp_path_factory):
    """A table, and a model trained on it."""
    folder = tmp_path_factory.mktemp("drinks")
    rows = [("hot tea with sugar", "tea"), ("cold milk with honey", "milk")] * 6
    path = table(folder / "a.csv", ("text", "labels"), rows)
    call("train", path, "-o", folder / "m", *SMALL, "-q").done()
    return path, folder / "m"


def label_sets(corpus):
    return [{str(label) for label in one} for one in corpus.label_sets()]


class TestColumns:
    def test_title_and_abstract_are_both_read_and_empty_texts_counted(self, tmp_path):
        rows = [("a", "Hot tea", "With sugar.", "tea"), ("b", "Cold milk", "", "milk")] * 6
        rows = [(f"{row[0]}{i}", *row[1:]) for i, row in enumerate(rows)] + [("c", "", " ", "tea")]
        path = table(tmp_path / "a.csv", ("id", "title", "abstract", "subjects"), rows)
        corpus = corpora.load(path)
        assert corpus.documents[:2].tolist() == ["Hot tea\nWith sugar.", "Cold milk\n"]
        done = call("train", path, "-o", tmp_path / "m", *SMALL)
        done.done()
        assert (
            "13 documents, 2 labels: 'milk', 'tea', title from 'title', text from 'abstract', "
            "labels from 'subjects', id from 'id', 1 empty text." in done.err
        )

    def test_a_model_keeps_its_columns(self, tmp_path):
        rows = [("hot tea", "same words", "tea"), ("cold milk", "same words", "milk")] * 10
        path = table(tmp_path / "a.csv", ("heading", "abstract", "marks"), rows)
        columns = ["--columns=text=heading", "--columns=labels=marks"]
        call("train", path, "-o", tmp_path / "m", *columns, *SMALL).done()
        assert read_header(tmp_path / "m").summary["reading"] == {
            "columns": {"text": "heading", "labels": "marks"}
        }
        done = call("predict", tmp_path / "m", path)
        answers = [json.loads(line)["labels"] for line in done.done().splitlines()]
        assert answers == [["tea"], ["milk"]] * 10
        assert "20 documents read, text from 'heading', not used: 'abstract', 'marks'," in done.err
        message = call("predict", tmp_path / "m", path, "--columns", "text=abstract")
        assert "text from 'abstract'" in message.err
        found = call("evaluate", tmp_path / "m", path, "--json")
        assert json.loads(found.done())["scores"]["micro_f1"] == 1
        assert "text from 'heading', labels from 'marks'" in found.err
        pool = table(tmp_path / "pool.csv", ("heading", "abstract"), [("tea", "x"), ("milk", "x")])
        assert "text from 'heading'" in call("next", tmp_path / "m", pool).err
        (tmp_path / "b.jsonl").write_text('{"text": "hot tea"}\n')
        assert "text from 'text'" in call("predict", tmp_path / "m", tmp_path / "b.jsonl").err

    @pytest.mark.parametrize("sign", [";", "|", " | ", " ", ", "])
    @pytest.mark.parametrize("name", ["subject_uris", "subjects"])
    def test_uris_are_split(self, tmp_path, name, sign):
        uris = ["http://example.org/a", "http://example.org/b"]
        path = table(tmp_path / "a.csv", ("text", name), [("tea", sign.join(uris))], "\t")
        assert label_sets(corpora.load(path)) == [set(uris)]
        assert "labels       2: " in call("corpus", "info", path).done()

    @pytest.mark.parametrize("cell", ["['a', 'b']", '[""a"", ""b""]', "[]"])
    def test_lists_in_cells_are_rejected(self, tmp_path, cell):
        path = table(tmp_path / "a.csv", ("text", "labels"), [("tea", f'"{cell}"'), ("milk", "a")])
        message = call("train", path, "-o", tmp_path / "m").refused()
        assert "labels in a cell must have a sign between them, as tea;milk, got a list" in message

    def test_columns_of_labels_that_are_named_are_joined(self, tmp_path):
        rows = [("hot tea", "tea", "drinks"), ("cold milk", "milk", "")]
        path = table(tmp_path / "a.csv", ("text", "first", "second"), rows)
        done = call("corpus", "info", path, "--columns=labels=first", "--columns=labels=second")
        assert "labels from 'first' + 'second'" in done.done()
        corpus = corpora.load(path, columns={"labels": ["first", "second"]})
        assert label_sets(corpus) == [{"tea", "drinks"}, {"milk"}]

    @pytest.mark.parametrize(
        "names", [["650$a"] * 3, ["subject_1", "subject_2", "subject_3"], ["Schlagwort"] * 3]
    )
    def test_one_subject_per_column_is_read(self, tmp_path, names):
        rows = [("tea", "a", "b; c", ""), ("milk", "", "", "a")]
        corpus = corpora.load(table(tmp_path / "a.csv", ("text", *names), rows))
        assert label_sets(corpus) == [{"a", "b", "c"}, {"a"}]

    @pytest.mark.parametrize(
        "header",
        [
            ("TITEL", "Beschreibung", "Schlagwörter"),
            ("Nimeke", "Tiivistelmä", "Asiasanat"),
            ("Titel", "Sammanfattning", "Ämnesord"),
            ("245", "520", "650"),
            ("245$a", "520 $a", "650_7$a"),
        ],
    )
    def test_headings_of_several_languages_and_marc_are_recognised(self, tmp_path, header):
        corpus = corpora.load(table(tmp_path / "a.csv", header, [("Tea", "Hot.", "drinks")]))
        assert corpus.documents.tolist() == ["Tea\nHot."]
        assert label_sets(corpus) == [{"drinks"}]

    def test_columns_that_are_not_read_are_named(self, tmp_path):
        header = ("title", "Abstract in English", "subjects", "tags", "")
        path = table(tmp_path / "a.csv", header, [("Tea", "Hot.", "y", "x", "")])
        assert corpora.load(path).documents.tolist() == ["Tea"]
        found = call("corpus", "info", path).done()
        assert "labels from 'subjects', not used: 'tags', 'Abstract in English'," in found

    @pytest.mark.parametrize("sign", ["|", " | ", ", "])
    def test_a_separator_that_leaves_uris_joined_is_rejected(self, tmp_path, sign):
        rows = [("tea", f"http://example.org/a{sign}http://example.org/b")]
        path = table(tmp_path / "a.csv", ("text", "subject_uris"), rows, "\t")
        message = call("train", path, "-o", tmp_path / "m", "--separator", ";").refused()
        assert "a label must be one URI, got 'http://example.org/a" in message
        assert message.endswith("Use --separator SIGN.")
        archived = [("tea", "http://web.example.org/http://example.org/b")]
        path = table(tmp_path / "b.csv", ("text", "subject_uris"), archived, "\t")
        assert label_sets(corpora.load(path, separator=";")) == [{archived[0][1]}]

    def test_marc_subfields_are_not_part_of_labels(self, tmp_path):
        path = table(tmp_path / "a.csv", ("text", "650"), [("x", "_7$aacq$2reuters; $a trade")])
        assert label_sets(corpora.load(path)) == [{"acq", "trade"}]


class TestRows:
    def test_blank_rows_are_skipped_and_counted(self, tmp_path):
        rows = [("1", "tea", "a"), ("", "", ""), ("2", "milk", "b"), ("", " ", "")]
        corpus = corpora.load(table(tmp_path / "a.csv", ("id", "text", "labels"), rows, ";"))
        assert corpus.ids.tolist() == ["1", "2"]
        assert corpus.understood.endswith("2 blank rows skipped")

    @pytest.mark.parametrize(
        "text",
        ["text;labels;\ntea;a|b;\n", "text;labels;\ntea;a|b\n", "text;labels\ntea;a|b;\n"],
    )
    def test_a_delimiter_at_the_end_of_lines_is_no_column(self, tmp_path, text):
        path, issues = tmp_path / "a.csv", tmp_path / "issues.csv"
        path.write_text(text)
        assert label_sets(corpora.load(path)) == [{"a", "b"}]
        issues.write_text("document,label,given,decision\n1,b,yes,change\n")
        call("correct", path, issues, "--out", tmp_path / "out.csv").done()
        assert (tmp_path / "out.csv").read_text() == text.replace("a|b", "a")

    def test_rows_without_id_are_numbered_and_counted(self, tmp_path):
        rows = [("2", "tea", "a"), ("", "milk", "b"), ("", "milk", "b")]
        path = table(tmp_path / "a.csv", ("id", "text", "labels"), rows)
        assert corpora.load(path).ids.tolist() == ["2", "row 2", "row 3"]
        assert "id from 'id', 2 without id numbered by row" in call("corpus", "info", path).done()

    def test_a_table_without_header_is_not_printed_as_a_whole(self, tmp_path):
        path = table(tmp_path / "a.csv", ("x" * 500, "y"), [("tea", "a")])
        message = call("train", path, "-o", tmp_path / "m").refused()
        assert (
            f"got '{'x' * 30}…', 'y'. No header? Add a first row with the names of the" in message
        )
        assert "Use --columns text=NAME --columns labels=NAME." in message

    def test_errors_name_options_in_a_command_and_parameters_in_python(self, tmp_path, drinks):
        message = call("predict", drinks[1], drinks[0], "--limit", 1, "--at-least", 2).refused()
        assert message.startswith("labelkin: --at-least must not be above 1")
        lines = tmp_path / "a.txt"
        lines.write_text("hot tea\n")
        for option in ("--columns=text=b", "--separator=;"):
            message = call("predict", drinks[1], lines, option).refused()
            assert f"{option.partition('=')[0]} must be of a table (.csv, .tsv)" in message
        with pytest.raises(ValueError, match=r"^columns must be of a table"):
            list(corpora.Documents(lines, columns={"text": "b"}))

    def test_hints_are_options_in_a_command_and_parameters_in_python(self, tmp_path):
        path = table(tmp_path / "a.csv", ("text", "marks"), [("tea", "a")])
        assert "Use --columns labels=NAME." in call("corpus", "info", path).refused()
        with pytest.raises(ValueError, match=r"Pass columns=\{'labels': 'NAME'\}\."):
            corpora.load(path)


class TestIds:
    @pytest.mark.parametrize("name", ["PPN", "ppn", "001", "MMS ID", "id"])
    def test_record_numbers_are_kept_in_answers(self, tmp_path, name):
        rows = [(f"{i}X", "hot tea", "tea") for i in range(6)]
        rows += [(f"{i}Y", "cold milk", "milk") for i in range(6)]
        path = table(tmp_path / "a.csv", (name, "title", "subjects"), rows, ";")
        call("train", path, "-o", tmp_path / "m", *SMALL, "-q").done()
        done = call("predict", tmp_path / "m", path, "--format", "csv")
        assert [line.split(";")[0] for line in done.done().splitlines()[1:3]] == ["0X", "1X"]
        assert f"id from {name!r}" in done.err


class TestOutput:
    ROWS = (*[("hot tea", "Tee | süß")] * 6, *[("cold milk", "Milch")] * 6)

    @pytest.mark.parametrize(
        ("encoding", "sign", "written"),
        [("cp1252", ";", "cp1252"), ("utf-8-sig", ";", "utf-8-sig"), ("utf-16", "\t", "utf-8-sig")],
    )
    def test_a_table_of_answers_is_written_as_the_table_of_documents(
        self, tmp_path, encoding, sign, written
    ):
        path = table(tmp_path / "a.csv", ("text", "Schlagwörter"), self.ROWS, sign, encoding)
        call("train", path, "-o", tmp_path / "m", *SMALL, "-q").done()
        out = tmp_path / "out.csv"
        call("predict", tmp_path / "m", path, "--out", out, "--threshold", 0.3).done()
        header, first, *_ = out.read_bytes().decode(written).split("\n")
        assert header == f"id{sign}labels{sign}probabilities"
        assert set(first.split(sign)[1].split("|")) == {"Tee", "süß"}
        assert out.read_bytes().startswith(b"\xef\xbb\xbf") == (written == "utf-8-sig")
        whole = out.read_bytes()
        out.write_bytes(b"".join(whole.splitlines(keepends=True)[:5]))
        call("predict", tmp_path / "m", path, "--out", out, "--threshold", 0.3, "--resume").done()
        assert out.read_bytes() == whole

    def test_labels_that_the_encoding_does_not_contain_are_written_in_utf8(self, tmp_path):
        path = table(tmp_path / "a.csv", ("text", "labels"), self.ROWS)
        call("train", path, "-o", tmp_path / "m", *SMALL, "-q").done()
        other, out = (
            table(tmp_path / "b.csv", ("text", "x"), [("hot tea", "")]),
            tmp_path / "out.csv",
        )
        options = ("--encoding", "ascii", "--threshold", 0.3)
        call("predict", tmp_path / "m", other, "--out", out, *options).done()
        assert "süß" in out.read_text("utf-8-sig")


class TestVocabularies:
    @pytest.fixture
    def model(self, tmp_path):
        rows = [("hot tea leaves", "http://e.org/tea"), ("cold milk", "http://e.org/milk")] * 6
        path = table(tmp_path / "a.csv", ("text", "subject_uris"), rows)
        terms = tmp_path / "terms.ttl"
        terms.write_text(
            "@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix e: <http://e.org/> .\n"
            'e:tea a skos:Concept ; skos:prefLabel "tea"@en, "Tee"@de .\n'
            'e:milk a skos:Concept ; skos:prefLabel "milk"@en, "Milch"@de .\n'
            'e:corn a skos:Concept ; skos:prefLabel "cereals"@en, "Getreide"@de ;'
            ' skos:altLabel "Korn"@de .\n'
            'e:rye a skos:Concept ; skos:prefLabel "rye"@en, "Roggen"@de ;'
            ' skos:altLabel "Bank"@de .\n'
            'e:oats a skos:Concept ; skos:prefLabel "oats"@en ; skos:altLabel "Bank"@en .\n'
        )
        model = tmp_path / "m"
        call("train", path, "-o", model, "--vocab", terms, *SMALL, "-q").done()
        return model

    @pytest.mark.parametrize("name", ["Getreide", "cereals", "korn", "http://e.org/corn"])
    def test_concepts_that_are_not_learned_are_accepted_and_marked(self, model, name):
        plain = call("suggest", model, "hot tea", "--reject", "Milch").done()
        found = call("suggest", model, "hot tea", "--reject", "Milch", "--accept", name).done()
        assert found == plain.replace("rejected:", "accepted: cereals (not yet learned)\nrejected:")
        message = json.loads(call("suggest", model, "hot tea", "--accept", name, "--json").done())
        assert message["known"] == {"accepted": [], "rejected": []}
        assert message["not_learned"] == {"accepted": ["http://e.org/corn"], "rejected": []}

    def test_a_name_of_several_concepts_and_an_unknown_one_are_rejected(self, model):
        message = call("suggest", model, "hot tea", "--accept", "bank").refused()
        assert "http://e.org/oats" in message
        assert "http://e.org/rye" in message


def test_labels_that_look_the_same_are_reported_and_merged(tmp_path):
    rows = (*[("hot tea", "tea")] * 6, *[("hot tea", "Tea.")] * 2, *[("cold milk", "milk")] * 6)
    path = table(tmp_path / "a.csv", ("text", "labels"), rows)
    note = "Note: these look the same: 'tea' = 'Tea.' (1 spelling). --merge-spellings merges"
    assert note in call("corpus", "info", path).err
    done = call("train", path, "-o", tmp_path / "m", "--merge-spellings", *SMALL)
    done.done()
    assert "2 labels: 'milk', 'tea'" in done.err
    assert "spellings merged: 1 ('Tea.' → 'tea')" in done.err
    assert "look the same" not in done.err


class TestOtherFiles:
    def test_documents_in_another_language_are_counted(self, tmp_path, drinks):
        path, model = drinks
        texts = [("hot tea with honey",), ("heiße Milch mit Honig",), ("",), ("kalter Tee",)]
        done = call("predict", model, table(tmp_path / "b.csv", ("text",), texts))
        assert "Note: the model knows few words of 2 documents." in done.err
        assert "few words" not in call("predict", model, path).err

    @pytest.mark.parametrize(
        ("name", "data", "message"),
        [
            ("a.mrc", b"00714cam a2200205 a 4500001001300000\x1e", "is a MARC file (ISO 2709)"),
            ("a.bin", b"abc\x00\x01\x02def", "has zero bytes: it is binary"),
            ("a.xml", b'<?xml version="1.0"?>\n<collection/>\n', "and is XML or HTML"),
            ("a.txt", b"<!DOCTYPE html><html>tea</html>", "and is XML or HTML"),
            ("a.ris", b"TY  - JOUR\nTI  - Tea\n", "a.ris must end in .txt, .md, .text, .jsonl,"),
            (
                "a.xlsx",
                b"PK\x03\x04tea",
                "is a packed document, as .xlsx, .docx, .ods and .odt are.",
            ),
            ("a.txt", b"PK\x03\x04tea", "Save a table as CSV (UTF-8), and a document as plain"),
        ],
    )
    def test_files_that_are_not_text_are_rejected(self, tmp_path, drinks, name, data, message):
        (tmp_path / name).write_bytes(data)
        assert message in call("predict", drinks[1], tmp_path / name).refused()
        assert message in call("suggest", drinks[1], tmp_path / name).refused()

    def test_an_empty_file_is_not_a_document(self, tmp_path, drinks):
        (tmp_path / "a.txt").write_bytes(b"\xff\xfe")
        message = call("suggest", drinks[1], tmp_path / "a.txt").refused()
        assert message.endswith("a.txt must have a text, and is empty.")

    def test_skipped_files_of_a_folder_are_reported(self, tmp_path):
        folder = tmp_path / "texts"
        folder.mkdir()
        for name, data in {
            "a.txt": b"tea",
            "a.key": b"tea\n",
            "b.docx": b"PK",
            "c.pdf": b"%",
        }.items():
            (folder / name).write_bytes(data)
        assert "2 files skipped (.docx, .pdf)" in corpora.load(folder).understood
        tables = tmp_path / "tables"
        tables.mkdir()
        table(tables / "a.csv", ("text", "labels"), [("tea", "a")])
        (tables / "b.xlsx").write_bytes(b"PK")
        assert "1 file skipped (.xlsx)" in corpora.load(tables).understood


class TestCorrections:
    def issues(self, path, encoding="cp1252"):
        rows = [("1", "Öl…", "no", "change"), ("2", "milk", "yes", "change")]
        return table(path, ("document", "label", "given", "decision"), rows, ";", encoding)

    def test_a_table_saved_by_a_german_spreadsheet_is_applied(self, tmp_path):
        rows = [("hot tea", "tea | sugar"), ("cold milk", "milk | tea"), ("x", "tea | milk")]
        path = table(tmp_path / "a.csv", ("text", "labels"), rows)
        issues, out = self.issues(tmp_path / "issues.csv"), tmp_path / "out.csv"
        done = call("correct", path, issues, "--out", out)
        done.done()
        read = "3 documents read, separator '|', text from 'text', labels from 'labels'"
        assert f"{read}, numbered by row." in done.err
        assert (
            out.read_text()
            == "text,labels\nhot tea,tea | sugar | Öl…\ncold milk,tea\nx,tea | milk\n"
        )

    def test_labels_in_several_columns_are_corrected(self, tmp_path):
        rows = [("hot tea", "tea", ""), ("cold milk", "milk", "tea")]
        path = table(tmp_path / "a.csv", ("text", "subject", "subject"), rows)
        issues, out = self.issues(tmp_path / "issues.csv"), tmp_path / "out.csv"
        call("correct", path, issues, "--out", out).done()
        assert out.read_text() == "text,subject,subject\nhot tea,tea,Öl…\ncold milk,,tea\n"

    def test_a_table_of_issues_is_known_by_its_content(self, tmp_path):
        path = table(tmp_path / "a.csv", ("text", "labels"), [("tea", "tea"), ("milk", "tea")])
        header = ("document", "label", "given", "decision", "my notes")
        rows = [("", "", "", "", ""), ("2", "tea", "yes", "Change ", "geprüft")]
        issues = table(tmp_path / "i.txt", header, rows, "\t", "utf-16")
        call("correct", path, issues, "--out", tmp_path / "out.csv").done()
        assert (tmp_path / "out.csv").read_text() == "text,labels\ntea,tea\nmilk,\n"

    def test_no_spreadsheet_takes_a_fingerprint_for_a_number(self):
        assert {fingerprint_of(str(i))[0] for i in range(20)} == {"x"}

    def test_nothing_applied_is_an_error_without_a_file(self, tmp_path):
        rows = [("hot tea", "tea", "title"), ("cold milk", "milk", "title")]
        path = table(tmp_path / "a.csv", ("text", "labels", "other"), rows)
        mark = fingerprint_of("title")
        header = ("document", "label", "given", "decision", "fingerprint")
        issues = table(tmp_path / "i.csv", header, [("1", "milk", "no", "change", mark)])
        out = tmp_path / "out.csv"
        message = call("correct", path, issues, "--out", out).refused()
        assert "At least one change must be made" in message
        assert not out.exists()
        options = ("--columns", "text=other")
        call("correct", path, issues, "--out", out, *options).done()


class TestArff:
    ARFF = "@relation x\n@attribute a numeric\n@attribute tea {0,1}\n@data\n"
    XML = '<labels xmlns="http://mulan.sourceforge.net/labels"><label name="tea"></label></labels>'

    def test_a_file_means_that_file_and_the_xml_of_its_name(self, tmp_path):
        (tmp_path / "x.xml").write_text(self.XML)
        (tmp_path / "other.xml").write_text(self.XML.replace("tea", "milk"))
        for name, rows in {
            "x-train": "1,0\n2,1\n",
            "x-test": "3,1\n",
            "x": "1,1\n2,0\n4,1\n",
        }.items():
            (tmp_path / f"{name}.arff").write_text(self.ARFF + rows)
        sizes = {name: corpora.load(tmp_path / f"{name}.arff").Y.shape for name in ("x", "x-train")}
        assert sizes == {"x": (3, 1), "x-train": (2, 1)}
