"""Exports of Prodigy and doccano, and files written for them."""

import json

import numpy as np
import pytest

from labelkin.corpora.documents import Documents, is_from_prodigy
from labelkin.prediction.fitted_model import Answer
from labelkin.prediction.output import make_layout

FIELDS = {"needed": ("text",), "optional": ("id", "labels", "accepted", "rejected")}


def read(*objects):
    return list(Documents([json.dumps(one) + "\n" for one in objects], "jsonl", **FIELDS))


def test_doccano():
    first, second = read(
        {"id": 4, "text": "Hot tea.", "label": ["tea", "hot"], "Comments": []},
        {"id": 5, "text": "Nothing.", "label": [], "Comments": []},
    )
    assert (first.id, first.text, first.labels) == (4, "Hot tea.", ("tea", "hot"))
    assert second.labels == ()


def test_doccanos_table():
    lines = ["id,text,label\n", "4,Hot tea.,tea#hot\n"]
    [document] = Documents(lines, "csv", separator="#", **FIELDS)
    assert document.labels == ("tea", "hot")


def test_prodigys_choices():
    options = [{"id": "tea", "text": "Tea"}, {"id": "milk", "text": "Milk"}]
    task = {"text": "Tea with milk.", "options": options, "_input_hash": 7}
    documents = read(
        task | {"accept": ["tea", "milk"], "answer": "accept"},
        task | {"accept": ["tea"], "answer": "reject"},
        task | {"accept": ["tea"], "answer": "ignore"},
        task | {"accept": [], "answer": "accept"},
    )
    assert [document.labels for document in documents] == [("tea", "milk"), ()]
    assert [document.number for document in documents] == [1, 2]


def test_prodigys_question_about_one_label_is_a_known_label():
    yes, no = read(
        {"text": "Tea.", "label": "tea", "answer": "accept"},
        {"text": "Milk.", "label": "tea", "answer": "reject"},
        {"text": "?", "label": "tea", "answer": "ignore"},
    )
    assert (yes.labels, yes.known) == (None, {"accepted": ("tea",), "rejected": ()})
    assert no.known == {"accepted": (), "rejected": ("tea",)}


def test_prodigys_categories():
    [document] = read({"text": "Tea.", "cats": {"tea": 1.0, "milk": 0.0, "hot": 1}})
    assert document.labels == ("tea", "hot")


@pytest.mark.parametrize("found", [{"answer": "42"}, {"answer": "accept"}, {"cats": ["Tom"]}])
def test_what_only_looks_like_prodigys_is_left_alone(found):
    assert not is_from_prodigy(found)


LABELS = ["http://e.org/milk", "http://e.org/sugar", "http://e.org/tea"]
ANSWER = Answer("a7", np.array([2, 0]), np.array([0.6, 0.1, 0.9]), "Tea with milk.")


def test_doccano_is_written_and_read_back():
    line = make_layout("doccano", LABELS).line(ANSWER)
    assert json.loads(line) == {
        "id": "a7",
        "text": "Tea with milk.",
        "label": [LABELS[2], LABELS[0]],
        "probabilities": {LABELS[2]: 0.9, LABELS[0]: 0.6},
    }
    [document] = Documents([line], "jsonl", **FIELDS)
    assert (document.id, document.labels) == ("a7", (LABELS[2], LABELS[0]))
    every = json.loads(make_layout("doccano", LABELS, all_scores=True).line(ANSWER))
    assert list(every["probabilities"]) == [LABELS[2], LABELS[0], LABELS[1]]


def test_prodigy_is_written_with_names_and_what_it_answers_is_read_back():
    layout = make_layout("prodigy", LABELS, names=["Milch", "Zucker", "Tee"])
    line = layout.line(ANSWER)
    assert layout.id_of(line) == "a7"
    task = json.loads(line)
    assert [option["text"] for option in task["options"]] == ["Tee", "Milch", "Zucker"]
    assert [option["meta"] for option in task["options"]] == ["0.90", "0.60", "0.10"]
    assert task["accept"] == [LABELS[2], LABELS[0]]
    assert task["meta"] == {"id": "a7", "score": 0.6}
    task["accept"].remove(LABELS[0])
    [document] = read(task | {"answer": "accept"})
    assert document.labels == (LABELS[2],)
