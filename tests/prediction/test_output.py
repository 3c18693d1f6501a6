"""Answers on lines: whose they are, and whole lines after a kill."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelkin.corpora import Documents
from labelkin.prediction import Answer
from labelkin.prediction.output import (
    check_note,
    cut_torn_line,
    durable_output,
    make_layout,
    resume_note,
    skip_answered,
    write_note,
)

IDS = st.one_of(st.integers(), st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"])))


@given(IDS, st.sampled_from(["jsonl", "csv", "tsv"]), st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_line_says_whose_it_is(id, kind, all_scores):
    layout = make_layout(kind, ["sugar", "tea"], all_scores)
    line = layout.line(Answer(id, np.array([1]), np.array([0.2, 0.8])))
    assert line.endswith("\n")
    assert line.count("\n") == 1
    assert layout.id_of(line) == str(id)


@given(st.lists(st.binary(max_size=40)), st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_cutting_leaves_whole_lines_only(tmp_path_factory, pieces, times):
    path = tmp_path_factory.getbasetemp() / "torn"
    data = b"\n".join(pieces) * times
    path.write_bytes(data)
    n_cut = cut_torn_line(path)
    kept = path.read_bytes()
    assert data == kept + data[len(kept) :]
    assert n_cut == len(data) - len(kept)
    assert b"\n" not in data[len(kept) :]
    assert kept == b"" or kept.endswith(b"\n")


def test_a_torn_line_may_be_longer_than_a_block(tmp_path):
    path = tmp_path / "long"
    path.write_bytes(b"whole\n" + b"x" * 200_000)
    assert cut_torn_line(path) == 200_000
    assert path.read_bytes() == b"whole\n"


class TestGoingOn:
    layout = make_layout("csv", ["sugar", "tea"])
    answers = tuple(Answer(i, np.array([1]), np.array([0.2, 0.8])) for i in (1, 2))

    def write(self, path):
        with durable_output(path) as write:
            write(self.layout.header + "".join(map(self.layout.line, self.answers)))

    def documents(self, *texts):
        return iter(Documents([f"{text}\n" for text in texts], "text"))

    def test_answered_documents_are_passed_over(self, tmp_path):
        self.write(tmp_path / "out.csv")
        documents = self.documents("a", "b", "c")
        assert skip_answered(tmp_path / "out.csv", self.layout, documents) == 2
        assert next(documents).text == "c"

    def test_answers_of_other_documents_are_an_error(self, tmp_path):
        self.write(tmp_path / "out.csv")
        with pytest.raises(ValueError, match=r"line 3 answers .* '2', .* has no more documents"):
            skip_answered(tmp_path / "out.csv", self.layout, self.documents("a"))
        other = iter(Documents(['{"id": "x", "text": "a"}'], "jsonl"))
        with pytest.raises(ValueError, match=r"line 2 answers .* '1', where the input has 'x'"):
            skip_answered(tmp_path / "out.csv", self.layout, other)

    def test_a_note_holds_the_model_and_the_options(self, tmp_path):
        model, out = tmp_path / "model", tmp_path / "out.csv"
        model.write_bytes(b"one")
        note = resume_note(model, {"--limit": 3})
        check_note(out, note)
        self.write(out)
        write_note(out, note)
        check_note(out, note)
        with pytest.raises(ValueError, match="with --limit 3, got not set"):
            check_note(out, resume_note(model, {"--limit": None}))
        model.write_bytes(b"another")
        with pytest.raises(ValueError, match="with the model of its first run"):
            check_note(out, resume_note(model, {"--limit": 3}))
