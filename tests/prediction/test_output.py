"""Answers on lines: whose they are, and whole lines after a kill."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from labelkin.prediction import Answer, make_layout
from labelkin.prediction.output import cut_torn_line

IDS = st.one_of(st.integers(), st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"])))


@given(IDS, st.sampled_from(["jsonl", "csv", "tsv"]), st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_line_tells_whose_it_is(id, kind, all_scores):
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
