"""``labelkin audit``: the list, the page, and the corrected corpus."""

import csv
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from in_process import call

from labelkin import corpora
from labelkin.curation.corrections import Decision
from labelkin.curation.saved_work import Entry, SavedWork

N_DOCUMENTS = 240
#: A label that a spreadsheet would compute.
FORMULA = "=HYPERLINK(1)"


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    """A corpus in which wheat without grain is an error; where it was made."""
    news = corpora.newsroom(N_DOCUMENTS)
    rows = [
        {"id": f"n{i}", "text": text, "labels": list(labels), "note": i}
        for i, (text, labels) in enumerate(zip(news.documents, news.label_sets(), strict=True))
    ]
    for row in rows:
        row["labels"] = [FORMULA if label == "grain" else label for label in row["labels"]]
    has_both = [r for r in rows if {"wheat", FORMULA} <= set(r["labels"])]
    for row in has_both[:4]:
        row["labels"].remove(FORMULA)
    path = tmp_path_factory.mktemp("damaged") / "news.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path, [row["id"] for row in has_both[:4]]


@pytest.fixture(scope="module")
def audited(damaged, tmp_path_factory):
    """The list, the page and what was printed."""
    folder = tmp_path_factory.mktemp("audited")
    done = call(
        "audit", damaged[0], "--out", folder / "issues.csv", "--html", folder / "report.html",
        "--top", 40,
    )  # fmt: skip
    done.done()
    return folder, done


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def labels_of(path):
    return {r["id"]: r["labels"] for r in map(json.loads, path.read_text().splitlines())}


def test_issues_have_text_reasons_and_an_empty_decision(audited):
    for row in rows_of(audited[0] / "issues.csv"):
        assert row["decision"] == ""
        assert row["repair"] == ("remove" if row["given"] == "yes" else "add")
        assert row["text"] and row["similar"] and len(row["fingerprint"]) == 13
        parts = [float(row[name]) for name in ("prior", "content", "other labels", "noise")]
        total = sum(parts) + float(row["number of labels"])
        assert 1 / (1 + np.exp(-total)) == pytest.approx(float(row["probability"]), abs=0.01)


def test_no_cell_of_the_list_is_a_formula(audited):
    with (audited[0] / "issues.csv").open(newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert any(cell.startswith("'=HYPERLINK") for cell in cells)
    assert not [c for c in cells if re.match(r"[=+@\t\r]|-(?!\d)", c)]


class _Page(HTMLParser):
    """Addresses and tags of a page."""

    def __init__(self, text):
        super().__init__()
        self.asked, self.tags = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.asked += [v for k, v in attributes if k in ("src", "href") and not v.startswith("#")]


def test_page_loads_nothing_and_marks_words(audited):
    text = (audited[0] / "report.html").read_text()
    page = _Page(text)
    assert page.asked == [] and "script" not in page.tags
    assert not re.search(r"https?://|@import|url\(", text)
    assert page.tags.count("mark") > 10
    assert {"article", "table", "details", "blockquote"} <= set(page.tags)
    assert "Similar documents" in text


def tea(path, sets):
    """A corpus of short texts."""
    rows = [
        {"id": i, "text": f"tea milk {' '.join(labels)} and words", "labels": labels}
        for i, labels in enumerate(sets)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


class TestApply:
    """The corrected corpus."""

    def decide(self, audited, tmp_path, answers):
        """Edit the list as a person does."""
        rows = rows_of(audited[0] / "issues.csv")
        for row, answer in zip(rows, answers, strict=False):
            row["decision"] = answer
        path = tmp_path / "decided.csv"
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0], delimiter=";")
            writer.writeheader()
            writer.writerows(rows)
        return path, rows

    def test_only_decided_changes_are_made(self, damaged, audited, tmp_path):
        path, rows = self.decide(audited, tmp_path, ["change", "keep", "Change", "cannot say"])
        out = tmp_path / "corrected.jsonl"
        done = call("correct", damaged[0], path, "--out", out)
        assert "40, of which 2 are to be changed" in done.done()
        before, after = damaged[0].read_text().splitlines(), out.read_text().splitlines()
        changed = {rows[0]["document"], rows[2]["document"]}
        for old, new in zip(before, after, strict=True):
            one, other = json.loads(old), json.loads(new)
            assert (old != new) is (one["id"] in changed)
            assert {**one, "labels": 0} == {**other, "labels": 0}

    def test_at_least_makes_undecided_changes(self, damaged, audited, tmp_path):
        path, rows = self.decide(audited, tmp_path, ["keep"])
        least = float(rows[4]["probability"])
        out = tmp_path / "corrected.jsonl"
        call("correct", damaged[0], path, "--out", out, "--at-least", least).done()
        before, after = labels_of(damaged[0]), labels_of(out)
        differing = {(d, x) for d in before for x in set(before[d]) ^ set(after[d])}
        wanted = {
            (row["document"], row["label"].removeprefix("'"))
            for row in rows[1:]
            if float(row["probability"]) >= least
        }
        assert differing == wanted

    def test_saved_work_overrides_the_table(self, damaged, audited, tmp_path):
        path, rows = self.decide(audited, tmp_path, ["change", "change"])
        cells = [
            (row["document"], row["label"].removeprefix("'"), row["given"] == "yes") for row in rows
        ]
        work = SavedWork(tmp_path / "j.sqlite")
        answers = [Decision(*cells[0], "keep"), Decision(*cells[2], "change")]
        work.save(answers)
        work.close()
        out = tmp_path / "corrected.jsonl"
        apply = [path, tmp_path / "j.sqlite"]
        call("correct", damaged[0], *apply, "--out", out).done()
        before, after = labels_of(damaged[0]), labels_of(out)
        differing = {(d, x) for d in before for x in set(before[d]) ^ set(after[d])}
        assert differing == {cells[1][:2], cells[2][:2]}

    def test_a_list_of_another_corpus_is_an_error_and_nothing_is_written(self, audited, tmp_path):
        path, _ = self.decide(audited, tmp_path, ["change"])
        other = tea(tmp_path / "tea.jsonl", [["tea"]])
        out = tmp_path / "corrected.jsonl"
        line = call("correct", other, path, "--out", out).refused()
        assert "1 documents are not in the corpus" in line
        assert not out.exists()

    def test_tables_with_other_columns(self, tmp_path):
        table = tmp_path / "tea.csv"
        table.write_text("body|tags\nhot|tea,milk\ncold|\n")
        decided = tmp_path / "d.csv"
        decided.write_text("document,label,given,decision\n1,tea,yes,change\n2,tea,no,change\n")
        message = ["--columns", "text=body", "--columns", "labels=tags", "--separator", ","]
        out = tmp_path / "new.csv"
        call("correct", table, decided, *message, "--delimiter", "|", "--out", out).done()
        assert out.read_text() == "body|tags\nhot|milk\ncold|tea\n"

    def test_a_known_corpus_becomes_json_lines(self, tmp_path):
        decided = tmp_path / "d.csv"
        label = corpora.newsroom().label_sets()[0][0]
        decided.write_text(f"document,label,given,decision\n1,{label},yes,change\n")
        out = tmp_path / "new.jsonl"
        call("correct", "newsroom", decided, "--out", out, "-q").done()
        assert label not in labels_of(out)["1"]
        assert corpora.load(out).Y.shape[0] == 3000


def test_training_uses_the_answers(damaged, audited, tmp_path):
    rows = rows_of(audited[0] / "issues.csv")
    cells = [(r["document"], r["label"].removeprefix("'"), r["given"] == "yes") for r in rows]
    work = SavedWork(tmp_path / "j.sqlite")
    answers = [
        Decision(*cells[0], "change", fingerprint=rows[0]["fingerprint"]),
        Decision(*cells[1], "keep"),
        Decision(*cells[2], "cannot say"),
        Decision(*cells[3], "change", fingerprint="another text"),
    ]
    work.save([*answers, Entry("m", "green tea", ("green",))])
    work.close()
    done = call(
        "train", damaged[0], "-o", tmp_path / "m", "--saved-work", tmp_path / "j.sqlite",
        "--content", "naive_bayes",
    )  # fmt: skip
    done.done()
    assert "1 not made, because the text is not the one that was looked at" in done.err


def test_a_corpus_of_vectors_is_audited(tmp_path):
    rows = [f"{i % 2} {i % 2 + 1}:{1 + i % 3}" for i in range(60)]
    rows[0] = "1 1:1"
    (tmp_path / "v.svm").write_text("\n".join(rows) + "\n")
    call("audit", tmp_path / "v.svm", "--top", 2, "--out", tmp_path / "i.csv").done()
    assert {row["document"] for row in rows_of(tmp_path / "i.csv")} == {"1"}
