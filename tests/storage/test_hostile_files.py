"""Forged files with a valid checksum raise errors, and nothing in them is executed."""

import json
import os
import random
import warnings

import numpy as np
import pytest
from forged_files import join_file, split_file
from scipy import sparse

from labelkin import LabelDependenceClassifier, LabelRescorer, NaiveBayes, NearestNeighbours
from labelkin.storage import load, read_header, save
from labelkin.vocabulary import Concept, Vocabulary
from labelkin.vocabulary.rules import Rules

X = sparse.csr_array(np.array([[3.0, 0], [2, 1], [0, 4], [1, 1]]))
SETS = [["sea"], ["sea", "town"], ["town"], []]
TEXTS = ["sea sea", "sea town", "town", "gulls"]


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """Return the description of a sound file."""
    path = tmp_path_factory.mktemp("honest") / "model"
    return split_file(save(LabelRescorer().fit(SETS), path)).about


@pytest.fixture
def why_not(honest, tmp_path):
    """Load a forged model with these arrays; return why that is an error."""

    def why(model, arrays=(), data=b""):
        written = {"model": model, "arrays": list(arrays)}
        path = join_file(tmp_path / "forged", honest, written, data)
        with pytest.raises(ValueError, match="is no sound model file: ") as caught:
            load(path)
        return str(caught.value)

    return why


NORMALIZER = "sklearn.preprocessing.Normalizer"
NAIVE_BAYES = "NaiveBayes"


def note(value):
    """An estimator with an attribute."""
    return {"object": [NORMALIZER, {"note": value}]}


def bytes_of(*arrays):
    return b"".join(array.tobytes().ljust(-(-array.nbytes // 64) * 64, b"\0") for array in arrays)


@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "builtins.eval",
        "sklearn.ensemble.RandomForestClassifier",
        "sklearn.svm.SVC",
        "sklearn.neighbors.KNeighborsClassifier",
        "sklearn.pipeline.joblib",
        "sklearn.preprocessing._data.Normalizer",
        "labelkin.models.classifier.np",
        "decided_labels",
        "labelkin.content.naive_bayes.NaiveBayes",
        "labelkin.storage.file.ModelFile",
        "",
        ".",
        17,
        None,
        ["os", "system"],
        {"os": "system"},
    ],
)
def test_unknown_classes_are_not_looked_up(why_not, name):
    assert "which model files may not name" in why_not({"object": [name, {}]})


def test_unknown_modules_are_not_imported(why_not, tmp_path, monkeypatch):
    (tmp_path / "evil_module.py").write_text("raise SystemExit('I was run')")
    monkeypatch.syspath_prepend(tmp_path)
    for tag in ("object", "function", "type"):
        name = "evil_module.Evil"
        model = {"object": [name, {}]} if tag == "object" else note({tag: name})
        assert "which model files may not name" in why_not(model)


@pytest.mark.parametrize(
    "name",
    ["os.system", "builtins.eval", "numpy.load", "numpy.fromfile", "numpy.log1p.reduce", "eval", "",
     "sklearn.utils.murmurhash3_32", "labelkin.storage.load", "numpy.lib.format.read_array"],
)  # fmt: skip
def test_unknown_functions_and_types_are_not_looked_up(why_not, name):
    assert "may not name" in why_not(note({"function": name}))
    assert "may not name" in why_not(note({"type": name}))


@pytest.mark.parametrize(
    ("array", "reason"),
    [
        (["<f8", [-1], "C"], "is no shape"),
        (["<f8", [2**62, 2**62], "C"], "and 64 are there"),
        (["<f8", [10**30], "C"], "is no shape"),
        (["<f8", [9], "C"], "needs 72 bytes, and 64 are there"),
        (["<f8", [0, 2**62], "C"], "is no shape"),
        (["<f8", [10**8, 0], "C"], "is no shape"),
        (["<U0", [10**8], "C"], "never stored"),
        (["|S0", [10**8], "C"], "never stored"),
        (["<U\u0661", [1], "C"], "never stored"),
        (["|S\uff11", [1], "C"], "never stored"),
        (["<f8", [True], "C"], "is no shape"),
        (["<f8", "8", "C"], "is no shape"),
        (["<f8", [1] * 33, "C"], "is no shape"),
        (["<f8", [8], "K"], "in the order 'K'"),
        (["<f8", [8]], "an array is described as"),
        (["|O", [8], "C"], "dtype '|O', which is never stored"),
        (["<f16", [4], "C"], "never stored"),
        (["<M8[s]", [8], "C"], "never stored"),
        (["<f8,<f8", [4], "C"], "never stored"),
        (["<U99999999", [8], "C"], "and 64 are there"),
        (["<U999999999", [8], "C"], "never stored"),
        ([[["a", "<f8"]], [8], "C"], "never stored"),
        (["|b1", [64], "C"], "an array of booleans holds 255"),
        (["<U1", [16], "C"], "numbers that are not characters"),
        (["<f8", [0], "C"], "its 1 arrays take 0 bytes, and 64 are there"),
        (7, "an array is described as 7"),
    ],
)
def test_forged_arrays_are_rejected(why_not, array, reason):
    assert reason in why_not(note({"array": 0}), [array], b"\xff" * 64)


@pytest.mark.parametrize("place", [-1, 1, 2**70, 0.0, True, "0", None, [0]])
def test_missing_arrays_are_rejected(why_not, place):
    arrays, data = [["<f8", [8], "C"]], bytes(64)
    assert "it refers to array" in why_not(note({"array": place}), arrays, data)


POSITIONS = np.array([0, 1, 1], dtype=np.int32)


@pytest.mark.parametrize(
    ("indices", "indptr", "shape", "reason"),
    [
        (POSITIONS + 1, [0, 2, 3], [2, 2], "positions outside its shape, 0 to 1"),
        (POSITIONS - 1, [0, 2, 3], [2, 2], "positions outside its shape"),
        (POSITIONS, [0, 2, 4], [2, 2], "different numbers of positions"),
        (POSITIONS, [0, 4, 3], [2, 2], "of the rows of a sparse matrix do not inc"),
        (POSITIONS, [0, 5, -1], [2, 2], "of the rows of a sparse matrix do not inc"),
        # differences overflow, so that none is negative
        (
            POSITIONS,
            [0, 2**31 - 1, -(2**31), -1, 3],
            [4, 2],
            "of the rows of a sparse matrix do not inc",
        ),
        (POSITIONS, [0, 2, 3], [2, 2**25], "a sparse matrix of 3 values has the shape"),
        (POSITIONS, [1, 2, 3], [2, 2], "of the rows of a sparse matrix do not inc"),
        (POSITIONS, [0, 2, 3], [3, 2], "of the rows of a sparse matrix do not inc"),
        (POSITIONS, [0, 2, 3], [10**15, 2], "of the rows of a sparse matrix do not inc"),
        (POSITIONS, [0, 2, 3], [2], "has the shape (2,)"),
        (POSITIONS.astype(np.float64), [0, 2, 3], [2, 2], "integers of 32 or 64 bits"),
        (
            POSITIONS.astype(np.int64)[:2],
            [0, 1, 2],
            [2, 2],
            "different numbers of positions",
        ),
    ],
)
@pytest.mark.parametrize("kind", ["csr_array", "csr_matrix", "csc_array", "csc_matrix"])
def test_forged_sparse_matrices_are_rejected(why_not, kind, indices, indptr, shape, reason):
    arrays = [np.ones(3), indices, np.array(indptr, dtype=np.int32)]
    described = [[array.dtype.str, list(array.shape), "C"] for array in arrays]
    written = shape if kind.startswith("csr") else shape[::-1]
    matrix = {"sparse": [kind, written, {"array": 0}, {"array": 1}, {"array": 2}]}
    assert reason in why_not(note(matrix), described, bytes_of(*arrays))


@pytest.mark.parametrize("terms", [[0, 2], [0, 0], [-1, 0], [0, 10**12], [0.0, 1.0], [False, True]])
@pytest.mark.parametrize(
    "name",
    ["sklearn.feature_extraction.text.CountVectorizer", "WordCounts"],
)
def test_forged_terms_are_rejected(why_not, name, terms):
    parameters = ["language", "stop_words", "stem", "min_documents", "markup", "lowercase"]
    state = dict.fromkeys([*parameters, "token_pattern"])
    state["vocabulary_"] = {"dict": [["a", "b"], terms]}
    assert "that does not number its terms from 0" in why_not({"object": [name, state]})


@pytest.mark.parametrize("n_features", [0, -5, 2**31, None, "9"])
def test_forged_hashing_vectorizer_is_rejected(why_not, n_features):
    name = "sklearn.feature_extraction.text.HashingVectorizer"
    assert "n_features=" in why_not({"object": [name, {"n_features": n_features}]})


@pytest.mark.parametrize("name", ["CountVectorizer", "TfidfVectorizer", "HashingVectorizer"])
@pytest.mark.parametrize("how", ["filename", "file", 3, ["content"]])
def test_vectorizer_that_opens_files_is_rejected(why_not, name, how):
    state = {"n_features": 8, "input": how}
    message = why_not({"object": [f"sklearn.feature_extraction.text.{name}", state]})
    assert "to which texts name files to open" in message


def test_cache_folder_of_a_pipeline_is_ignored(honest, tmp_path):
    state = {"steps": [{"tuple": ["only", note(None)]}], "memory": "/tmp/cache", "verbose": False}
    written = {"model": {"object": ["sklearn.pipeline.Pipeline", state]}, "arrays": []}
    about = honest | {"classes": ["sklearn.pipeline.Pipeline", NORMALIZER], "labels": []}
    model = load(join_file(tmp_path / "forged", about, written))
    assert model.memory is None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"implies": [[0, 1], [1, 0]]}, "rules that imply each other in a circle"),
        ({"implies": [[0, 2]]}, "columns that are not among 2 labels"),
        ({"groups": [[-1, 0]]}, "columns that are not among 2 labels"),
        ({"groups": [["0", "1"]]}, "columns that are not among 2 labels"),
        ({"implies": [[0]]}, "rules that cannot be applied"),
        ({"implies": 3}, "rules that cannot be applied"),
        ({"groups": [3]}, "rules that cannot be applied"),
        ({"names": None}, "rules that cannot be applied"),
    ],
)
def test_forged_rules_are_rejected(why_not, change, reason):
    state = {"names": ["sea", "town"], "implies": [], "groups": []} | change
    assert reason in why_not({"object": ["BoundRules", state]})


@pytest.mark.parametrize("opening", ["[", '{"tuple":[', '{"dict":[[],', '{"slice":['])
@pytest.mark.parametrize("depth", [101, 5_000, 100_000])
def test_deep_json_is_rejected(honest, tmp_path, opening, depth):
    closing = opening.translate(str.maketrans("[{", "]}", '":abcdefghijklmnopqrstuvwxyz,'))[::-1]
    bomb = opening * depth + "1" + closing * depth
    text = json.dumps({"model": note("BOMB"), "arrays": []})
    path = join_file(tmp_path / "bomb", honest, text.replace('"BOMB"', bomb).encode())
    with pytest.raises(ValueError, match=r"no sound model file: "):
        load(path)
    join_file(tmp_path / "bomb", bomb.encode(), b"{}")
    with pytest.raises(ValueError, match=r"no sound model file: "):
        read_header(path)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"pickle": "gASVBQ=="}, "sparse, object, got"),
        ({"tuple": [], "list": []}, "a value is one of"),
        ({}, "a value is one of"),
        ({"tuple": 1}, "a list of things is expected"),
        ({"dict": [["a"], []]}, "1 keys and 0 values"),
        ({"dict": [[["a"]], [1]]}, "must be plain, got a list"),
        ({"dict": [[{"tuple": ["a"]}], [1]]}, "must be plain, got a tuple"),
        ({"dict": [[note(None)], [1]]}, "must be plain, got a Normalizer"),
        ({"set": [[1]]}, "must be plain, got a list"),
        ({"set": [2**63]}, "must be plain, got 9223372036854775808"),
        ({"scalar": ["<f8", "00"]}, "an array without dimensions"),
        ({"float": "1.5"}, "is inf, -inf or nan"),
        ({"dtype": "|O"}, "never stored"),
        ({"slice": [1]}, "a list of 3 is expected"),
    ],
)  # fmt: skip
def test_forged_values_are_rejected(why_not, value, reason):
    assert reason in why_not(note(value))


@pytest.mark.parametrize("model", [b"[]", b"{}", b"", b"\xff\xfe", b"NaN", b"1" * 5000, b'{"a":1}'])
def test_other_json_is_rejected(honest, tmp_path, model):
    path = join_file(tmp_path / "forged", honest, model)
    with pytest.raises(ValueError, match="no sound model file"):
        load(path)


def test_changed_model_does_not_crash_prediction(tmp_path):
    rules = Rules(implies=[("sea", "town")])
    fitted = LabelDependenceClassifier(NearestNeighbours(2), rules=rules).fit(X, SETS)
    about, model, data = split_file(save(fitted, tmp_path / "model"))
    path = tmp_path / "model"
    draw, used = random.Random(2), 0
    for _ in range(200):
        changed = bytearray(data)
        changed[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        join_file(path, about, model, bytes(changed))
        try:
            restored = load(path)
        except ValueError:
            continue
        used += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NaN and infinity where numbers were
            try:
                restored.predict_proba(X)
            except (ValueError, IndexError, FloatingPointError):
                continue
    assert used > 50


@pytest.mark.parametrize("name", ["fit", "transform", "get_params", "set_output"])
def test_attribute_with_the_name_of_a_method_is_rejected(why_not, name):
    assert f"has the attribute '{name}'" in why_not({"object": [NORMALIZER, {name: 1}]})


def test_number_of_jobs_is_limited(tmp_path):
    model = NearestNeighbours(n_jobs=1).fit(X, SETS)
    about, written, data = split_file(save(model, tmp_path / "model"))
    text = json.dumps(written).replace('"n_jobs": 1', '"n_jobs": 4000')
    forged = join_file(tmp_path / "forged", about, json.loads(text), data)
    assert 1 <= load(forged).n_jobs <= os.cpu_count()


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("labels", ["lie1", "lie2"], "other labels than its model has"),
        ("labels", ["sea"], "other labels than its model has"),
        ("classes", [], "other classes than it holds"),
    ],
)
def test_description_of_another_model_is_rejected(tmp_path, key, value, reason):
    about, written, data = split_file(save(LabelRescorer().fit(SETS), tmp_path / "model"))
    with pytest.raises(ValueError, match=reason):
        load(join_file(tmp_path / "forged", about | {key: value}, written, data))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("uris", {"tuple": ["u:1"]}),
        ("uris", {"tuple": ["u:1", "u:1"]}),
        ("uris", {"tuple": ["u:1", 2]}),
        ("labels", {"dict": [["en"], [{"tuple": ["a"]}]]}),
        ("labels", {"tuple": []}),
        ("alternatives", {"dict": [["en"], [3]]}),
        ("broader", None),
        ("replaced", {"dict": [["u:0"], [7]]}),
        ("name", 7),
    ],
)
def test_forged_vocabularies_are_rejected(tmp_path, key, value):
    concepts = [Concept("u:1", {"en": "a"}, "1", {"en": ("x",)}), Concept("u:2", broader=("u:1",))]
    model = NaiveBayes().fit(X.toarray(), SETS)
    model.concepts_ = Vocabulary.of(concepts, replaced={"u:0": "u:1"})
    about, written, data = split_file(save(model, tmp_path / "honest"))
    kept = load(tmp_path / "honest").concepts_
    assert (list(kept), kept.replaced) == (concepts, {"u:0": "u:1"})
    name, state = written["model"]["object"][1]["concepts_"]["object"]
    assert name == "Vocabulary"
    state[key] = value
    with pytest.raises(ValueError, match="vocabulary whose columns do not fit each other"):
        load(join_file(tmp_path / "forged", about, written, data))


def test_vocabulary_with_positions_outside_is_rejected(tmp_path):
    model = NaiveBayes().fit(X.toarray(), SETS)
    far = np.array([[0, 5]], dtype=np.int32)
    model.concepts_ = Vocabulary("x", "", ("u:1",), {}, ("",), broader=far)
    with pytest.raises(ValueError, match="vocabulary whose columns do not fit each other"):
        save(model, tmp_path / "x")
