"""Lines of answers: ids, and whole lines after a kill."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelkin.corpora import Documents
from labelkin.prediction.fitted_model import Answer
from labelkin.prediction.output import answers_file, make_layout, resume_note

IDS = st.one_of(st.integers(), st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"])))


@given(IDS, st.sampled_from(["jsonl", "csv", "tsv"]), st.booleans())
@settings(max_examples=60, deadline=None)
def test_line_contains_the_id_of_its_document(id, kind, all_scores):
    layout = make_layout(kind, ["sugar", "tea"], all_scores)
    line = layout.line(Answer(id, np.array([1]), np.array([0.2, 0.8])))
    assert line.endswith("\n")
    assert line.count("\n") == 1
    assert layout.id_of(line) == str(id)


class TestResume:
    layout = make_layout("csv", ["sugar", "tea"])
    answers = tuple(Answer(i, np.array([1]), np.array([0.2, 0.8])) for i in (1, 2))

    @pytest.fixture
    def model(self, tmp_path):
        path = tmp_path / "model"
        path.write_bytes(b"one")
        return path

    @pytest.fixture
    def out(self, model, tmp_path):
        """A file with two answers, of a run that did not end."""
        path = tmp_path / "out.csv"
        note = resume_note(model, {"--limit": 3})
        with (
            pytest.raises(KeyboardInterrupt),
            answers_file(path, self.layout, iter(()), note) as (write, _),
        ):
            write("".join(map(self.layout.line, self.answers)))
            raise KeyboardInterrupt
        return path

    def resume(self, out, model, documents, limit=3):
        """Return the number of skipped documents."""
        note = resume_note(model, {"--limit": limit})
        with answers_file(out, self.layout, documents, note, resume=True) as (_, n_answered):
            return n_answered

    def documents(self, *texts):
        return iter(Documents([f"{text}\n" for text in texts], "text"))

    def test_answered_documents_are_skipped(self, model, out):
        documents = self.documents("a", "b", "c")
        assert self.resume(out, model, documents) == 2
        assert next(documents).text == "c"

    def test_answers_of_other_documents_are_an_error(self, model, out):
        with pytest.raises(ValueError, match=r"line 3 answers .* '2', .* has no more documents"):
            self.resume(out, model, self.documents("a"))
        other = iter(Documents(['{"id": "x", "text": "a"}'], "jsonl"))
        with pytest.raises(ValueError, match=r"line 2 answers .* '1', where the input has 'x'"):
            self.resume(out, model, other)

    def test_other_options_or_another_model_are_an_error(self, model, out):
        with pytest.raises(
            ValueError, match=r"first run, \{'--limit': 3\}, got \{'--limit': None\}"
        ):
            self.resume(out, model, self.documents("a", "b"), limit=None)
        model.write_bytes(b"another")
        with pytest.raises(ValueError, match=r"first run, \{'model': "):
            self.resume(out, model, self.documents("a", "b"))
