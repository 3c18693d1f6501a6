"""Files made to mislead, with a right checksum: errors, and nothing in them is run."""

import json
import os
import random
import time
import warnings

import numpy as np
import pytest
from forged_files import put_together, take_apart
from scipy import sparse

from labelkin import LabelDependenceClassifier, LabelRescorer, NaiveBayes, NearestNeighbours
from labelkin.storage import load, read_header, save
from labelkin.vocabulary.rules import Rules

X = sparse.csr_array(np.array([[3.0, 0], [2, 1], [0, 4], [1, 1]]))
SETS = [["sea"], ["sea", "town"], ["town"], []]
TEXTS = ["sea sea", "sea town", "town", "gulls"]


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """Return the description of a sound file."""
    path = tmp_path_factory.mktemp("honest") / "model"
    return take_apart(save(LabelRescorer().fit(SETS), path)).about


@pytest.fixture
def why_not(honest, tmp_path):
    """Load a model made of these parts and arrays; return why that is an error."""

    def why(parts, arrays=(), data=b"", model=None):
        model = {"part": len(parts) - 1} if model is None else model
        written = {"model": model, "parts": parts, "arrays": list(arrays)}
        path = put_together(tmp_path / "forged", honest, written, data)
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
        "posix.system",
        "builtins.eval",
        "builtins.exec",
        "subprocess.Popen",
        "pickle.Unpickler",
        "sklearn.ensemble.RandomForestClassifier",
        "sklearn.svm.SVC",
        "sklearn.neighbors.KNeighborsClassifier",
        "sklearn.pipeline.joblib",
        "sklearn.preprocessing._data.Normalizer",
        "labelkin.models.classifier.np",
        "labelkin.models.classifier.PlattSVM",
        "labelkin.models.classifier.parallel_config",
        "labelkin.estimator.LogOddsClassifier",
        "labelkin.method.combination.LabelClassifier",
        "decided_labels",
        "Suggestion",
        "labelkin.NaiveBayes",
        "labelkin.content.naive_bayes.NaiveBayes",
        "sklearn.feature_selection.chi2",
        "labelkin.corpora.corpus.Corpus",
        "labelkin.research.experiments.runs.locked",
        "labelkin.storage.file.ModelFile",
        "labelkin.method..classifier.LabelDependenceClassifier",
        "Normalizer",
        "",
        ".",
        "..",
        17,
        None,
        ["os", "system"],
        {"os": "system"},
    ],
)
def test_classes_outside_the_table_are_not_looked_up(why_not, name):
    assert "which model files may not name" in why_not([{"object": [name, {}]}])


def test_modules_outside_the_table_are_not_imported(why_not, tmp_path, monkeypatch):
    (tmp_path / "evil_module.py").write_text("raise SystemExit('I was run')")
    monkeypatch.syspath_prepend(tmp_path)
    for tag in ("object", "function", "type"):
        name = "evil_module.Evil"
        part = {"object": [name, {}]} if tag == "object" else note({tag: name})
        assert "which model files may not name" in why_not([part])


@pytest.mark.parametrize(
    "name",
    ["os.system", "builtins.eval", "numpy.load", "numpy.fromfile", "numpy.log1p.reduce", "eval", "",
     "sklearn.utils.murmurhash3_32", "labelkin.storage.load", "numpy.lib.format.read_array"],
)  # fmt: skip
def test_functions_and_types_outside_the_tables_are_not_looked_up(why_not, name):
    assert "may not name" in why_not([note({"function": name})])
    assert "may not name" in why_not([note({"type": name})])


@pytest.mark.parametrize(
    ("array", "reason"),
    [
        (["<f8", [-1], "C"], r"[-1] is no shape"),
        (["<f8", [2**62, 2**62], "C"], "and 64 are there"),
        (["<f8", [10**30], "C"], "is no shape"),
        (["<f8", [9], "C"], "needs 72 bytes, and 64 are there"),
        (["<f8", [0, 2**62], "C"], "is no shape"),
        (["<f8", [10**8, 0], "C"], "is no shape"),
        (["<U0", [10**8], "C"], "never stored"),
        (["|S0", [10**8], "C"], "never stored"),
        (["<U00", [10**8], "C"], "never stored"),
        (["<U\u0661", [1], "C"], "never stored"),
        (["|S\uff11", [1], "C"], "never stored"),
        (["<f8", [1.0], "C"], "is no shape"),
        (["<f8", [True], "C"], "is no shape"),
        (["<f8", "8", "C"], "is no shape"),
        (["<f8", [1] * 33, "C"], "is no shape"),
        (["<f8", [8], "K"], "in the order 'K'"),
        (["<f8", [8]], "an array is described as"),
        (["|O", [8], "C"], "dtype '|O', which is never stored"),
        (["O", [1], "C"], "dtype 'O', which is never stored"),
        (["object", [1], "C"], "never stored"),
        (["<f16", [4], "C"], "never stored"),
        (["<M8[s]", [8], "C"], "never stored"),
        (["<f8,<f8", [4], "C"], "never stored"),
        (["(8,)<f8", [1], "C"], "never stored"),
        (["|V8", [8], "C"], "never stored"),
        (["<U99999999", [8], "C"], "and 64 are there"),
        (["<U999999999", [8], "C"], "never stored"),
        ([[["a", "<f8"]], [8], "C"], "never stored"),
        (["|b1", [64], "C"], "an array of booleans holds 255"),
        (["<U1", [16], "C"], "what is no character"),
        (["<f8", [0], "C"], "its 1 arrays take 0 bytes, and 64 are there"),
        (7, "an array is described as 7"),
    ],
)
def test_arrays_that_cannot_be_are_errors(why_not, array, reason):
    assert reason in why_not([note({"array": 0})], [array], b"\xff" * 64)


@pytest.mark.parametrize("place", [-1, 1, 2**70, 0.0, True, "0", None, [0]])
def test_arrays_and_parts_that_are_not_there_are_errors(why_not, place):
    arrays, data = [["<f8", [8], "C"]], bytes(64)
    assert "it refers to array" in why_not([note({"array": place})], arrays, data)
    assert "it refers to part" in why_not([note(None), note({"part": place})], arrays, data)


def test_a_part_cannot_refer_to_itself_or_to_a_later_one(why_not):
    assert "refers to part 0 where there are 0 so far" in why_not([note({"part": 0})])
    assert "refers to part 1" in why_not([note({"part": 1}), note(None)])


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
def test_sparse_matrices_that_lead_astray_are_errors(why_not, kind, indices, indptr, shape, reason):
    arrays = [np.ones(3), indices, np.array(indptr, dtype=np.int32)]
    described = [[array.dtype.str, list(array.shape), "C"] for array in arrays]
    written = shape if kind.startswith("csr") else shape[::-1]
    part = {"sparse": [kind, written, {"array": 0}, {"array": 1}, {"array": 2}]}
    assert reason in why_not([part, note({"part": 0})], described, bytes_of(*arrays))


def test_other_sparse_kinds_and_parts_are_errors(why_not):
    assert "a sparse matrix is a 'dok_array'" in why_not(
        [{"sparse": ["dok_array", [1, 1], 1, 2, 3]}]
    )
    assert "must be arrays" in why_not([{"sparse": ["csr_array", [1, 1], [1], [0], [0, 1]]}])


@pytest.mark.parametrize("terms", [[0, 2], [0, 0], [-1, 0], [0, 10**12], [0.0, 1.0], [False, True]])
@pytest.mark.parametrize(
    "name",
    ["sklearn.feature_extraction.text.CountVectorizer", "WordCounts"],
)
def test_a_vocabulary_that_leads_astray_is_an_error(why_not, name, terms):
    parameters = ["language", "stop_words", "stem", "min_documents", "markup", "lowercase"]
    state = dict.fromkeys([*parameters, "token_pattern"])
    state["vocabulary_"] = {"dict": [["a", "b"], terms]}
    assert "that does not number its terms from 0" in why_not([{"object": [name, state]}])


@pytest.mark.parametrize("n_features", [0, -5, 2**31, None, "9"])
def test_a_hashing_vectoriser_that_leads_astray_is_an_error(why_not, n_features):
    name = "sklearn.feature_extraction.text.HashingVectorizer"
    assert "n_features=" in why_not([{"object": [name, {"n_features": n_features}]}])


@pytest.mark.parametrize("name", ["CountVectorizer", "TfidfVectorizer", "HashingVectorizer"])
@pytest.mark.parametrize("how", ["filename", "file", 3, ["content"]])
def test_a_vectoriser_that_opens_files_is_an_error(why_not, name, how):
    state = {"n_features": 8, "input": how}
    message = why_not([{"object": [f"sklearn.feature_extraction.text.{name}", state]}])
    assert "to which texts name files to open" in message


def test_a_pipeline_that_would_read_pickles_from_a_folder_does_not(honest, tmp_path):
    state = {"steps": [{"tuple": ["only", {"part": 0}]}], "memory": "/tmp/cache", "verbose": False}
    parts = [note(None), {"object": ["sklearn.pipeline.Pipeline", state]}]
    written = {"model": {"part": 1}, "parts": parts, "arrays": []}
    about = honest | {"classes": ["sklearn.pipeline.Pipeline", NORMALIZER], "labels": []}
    model = load(put_together(tmp_path / "forged", about, written))
    assert model.memory is None


@pytest.mark.parametrize(
    "change",
    [
        *({"pos": 625}, {"pos": -1}, {"pos": 0.5}, {"pos": True}, {"key": [1, 2]}),
        *({"words": 623}, {"words": 0}, {"has_gauss": 2}, {"gauss": "0"}),
        {"bit_generator": "PCG64"},
    ],
    ids=str,
)
def test_a_random_state_that_leads_astray_is_an_error(why_not, change):
    """One of zeros is one: whoever draws until a number is not zero would draw for ever."""
    words = np.arange(624, dtype=np.uint32)
    if change.get("words") == 0:
        words[:] = 0
    elif "words" in change:
        words = words[:-1]
    inner = {"key": {"array": 0}, "pos": 3} | {
        key: change[key] for key in change.keys() & {"pos", "key"}
    }
    state = {"bit_generator": "MT19937", "state": as_dict(inner), "has_gauss": 0, "gauss": 0.0}
    state |= {key: change[key] for key in change.keys() & set(state)}
    part = note({"random state": as_dict(state)})
    described = [["<u4", [len(words)], "C"]]
    assert "not one of the Mersenne twister" in why_not([part], described, bytes_of(words))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"implies": [[0, 1], [1, 0]]}, "rules that imply each other in a circle"),
        ({"implies": [[0, 2]]}, "columns that are not among 2 labels"),
        ({"groups": [[-1, 0]]}, "columns that are not among 2 labels"),
        ({"groups": [["0", "1"]]}, "columns that are not among 2 labels"),
        ({"implies": [[0]]}, "rules that are none"),
        ({"implies": 3}, "rules that are none"),
        ({"groups": [3]}, "rules that are none"),
        ({"names": None}, "rules that are none"),
    ],
)
def test_rules_that_lead_astray_are_errors(why_not, change, reason):
    state = {"names": ["sea", "town"], "implies": [], "groups": []} | change
    assert reason in why_not([{"object": ["BoundRules", state]}])


def as_dict(mapping):
    return {"dict": [list(mapping), list(mapping.values())]}


@pytest.mark.parametrize("opening", ["[", '{"tuple":[', '{"dict":[[],', '{"slice":['])
@pytest.mark.parametrize("depth", [101, 5_000, 100_000])
def test_depth_bombs_are_errors(honest, tmp_path, opening, depth):
    closing = opening.translate(str.maketrans("[{", "]}", '":abcdefghijklmnopqrstuvwxyz,'))[::-1]
    bomb = opening * depth + "1" + closing * depth
    text = json.dumps({"model": {"part": 0}, "parts": [note("BOMB")], "arrays": []})
    path = put_together(tmp_path / "bomb", honest, text.replace('"BOMB"', bomb).encode())
    with pytest.raises(ValueError, match=r"no sound model file: "):
        load(path)
    put_together(tmp_path / "bomb", bomb.encode(), b"{}")
    with pytest.raises(ValueError, match=r"no sound model file: "):
        read_header(path)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"pickle": "gASVBQ=="}, "a value is a 'pickle'"),
        ({"tuple": [], "list": []}, "neither a value nor a part"),
        ({}, "neither a value nor a part"),
        ({"tuple": 1}, "a list of things is expected"),
        ({"dict": [["a"], []]}, "1 keys and 0 values"),
        ({"dict": [[["a"]], [1]]}, "cannot be one (a list)"),
        ({"set": [[1]]}, "cannot be one"),
        ({"scalar": ["|O", "00" * 8]}, "never stored"),
        ({"scalar": ["<f8", "00"]}, "has 1 bytes"),
        ({"scalar": ["|b1", "02"]}, "booleans holds 2"),
        ({"scalar": ["<f8", "xy"]}, "non-hexadecimal"),
        ({"scalar": ["<f8", 8]}, "a number is written as 8"),
        ({"int": "twelve"}, "invalid literal for int"),
        ({"int": 12}, "a text is expected"),
        ({"float": "1.5"}, "no infinity and no NaN"),
        ({"bytes": "zz"}, "non-hexadecimal"),
        ({"dtype": "|O"}, "never stored"),
        ({"slice": [1]}, "three ends"),
        ({"metadata requests": ["x", {"dict": [["__class__"], [None]]}]}, "no metadata requests"),
        ({"metadata requests": 3}, "an owner and a mapping"),
    ],
)  # fmt: skip
def test_values_that_cannot_be_are_errors(why_not, value, reason):
    assert reason in why_not([note(value)])


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        ({"object": [NORMALIZER]}, "a list of 2 is expected"),
        ({"object": [NORMALIZER, []]}, "are no mapping"),
        ({"object": [NORMALIZER, {"__class__": 1}]}, "attribute '__class__'"),
        ({"object": [NORMALIZER, {"a b": 1}]}, "attribute 'a b'"),
        ({"object": [NAIVE_BAYES, {}]}, "NaiveBayes lacks alpha"),
        ({"object": ["LabelMatrix", {}]}, "lacks classes, container"),
        ({"object": ["LinearTerm", {}]}, "LinearTerm lacks "),
        ({"objects": [[10**12], []]}, "has 0 objects"),
        ({"objects": [[2, -1], []]}, "is no shape"),
        ({"list": []}, "a part is a 'list'"),
        ([], "neither a value nor a part"),
        (None, "neither a value nor a part"),
    ],
)  # fmt: skip
def test_parts_that_cannot_be_are_errors(why_not, part, reason):
    assert reason in why_not([part])


def test_what_a_file_holds_must_be_a_model(why_not):
    assert "it holds a list, which is no estimator" in why_not([], model=[1, 2])
    assert "it holds a ndarray" in why_not([{"objects": [[0], []]}])


@pytest.mark.parametrize("model", [b"[]", b"{}", b"", b"\xff\xfe", b"NaN", b"1" * 5000, b'{"a":1}'])
def test_models_that_are_no_json_of_ours_are_errors(honest, tmp_path, model):
    path = put_together(tmp_path / "forged", honest, model)
    with pytest.raises(ValueError, match="no sound model file"):
        load(path)


@pytest.mark.parametrize("key", ["versions", "created", "model", "classes", "labels", "summary"])
@pytest.mark.parametrize("value", [3, "x", None, [1], {}])
def test_a_description_is_read_or_an_error(honest, tmp_path, key, value):
    path = put_together(tmp_path / "forged", {**honest, key: value}, b"{}")
    try:
        read_header(path)
    except ValueError as error:
        assert "its description fails" in str(error)
    lacking = {name: kept for name, kept in honest.items() if name != key}
    with pytest.raises(ValueError, match="its description fails"):
        read_header(put_together(path, lacking, b"{}"))


def test_a_changed_model_that_loads_does_not_crash_the_interpreter_when_used(tmp_path):
    rules = Rules(implies=[("sea", "town")])
    fitted = LabelDependenceClassifier(NearestNeighbours(2), rules=rules).fit(X, SETS)
    about, model, data = take_apart(save(fitted, tmp_path / "model"))
    path = tmp_path / "model"
    draw, used = random.Random(2), 0
    for _ in range(200):
        changed = bytearray(data)
        changed[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        put_together(path, about, model, bytes(changed))
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


def chain(n_parts, name, fields):
    """Parts that each refer to the one before by all their fields: as text or hash, 2ⁿ of them."""
    parts = [{"object": [name, dict.fromkeys(fields, 0)]}]
    for i in range(n_parts - 1):
        parts.append({"object": [name, {key: {"part": i} for key in fields}]})
    return parts


WAYS_IN = {
    "a key": lambda last: {"dict": [[last], [1]]},
    "a set": lambda last: {"set": [last]},
    "a frozenset": lambda last: {"frozenset": [last]},
    "a key in a tuple": lambda last: {"dict": [[{"tuple": [last]}], [1]]},
    "bytes": lambda last: {"bytes": last},
    "an int": lambda last: {"int": last},
    "a float": lambda last: {"float": last},
    "a type": lambda last: {"type": last},
    "a function": lambda last: {"function": last},
    "a dtype": lambda last: {"dtype": last},
    "a slice": lambda last: {"slice": [last, last]},
    "a tuple": lambda last: {"tuple": last},
    "a random state": lambda last: {"random state": last},
    "requests": lambda last: {"metadata requests": [last, {"dict": [["fit"], [last]]}]},
    "a request": lambda last: {
        "metadata requests": ["x", {"dict": [["fit"], [{"dict": [["a"], [last]]}]]}]
    },
}
OBJECTS_IN = {
    "sparse": lambda last: {"sparse": ["csr_array", [last, last], 1, 2, 3]},
    "sparse parts": lambda last: {"sparse": [last]},
    "features": lambda last: {
        "object": ["sklearn.feature_extraction.text.HashingVectorizer", {"n_features": last}]
    },
    "input": lambda last: {
        "object": ["sklearn.feature_extraction.text.CountVectorizer", {"input": last}]
    },
    "jobs": lambda last: {"object": [NORMALIZER, {"n_jobs": last}]},
    "terms": lambda last: {
        "object": [
            "sklearn.feature_extraction.text.CountVectorizer",
            {"vocabulary_": {"dict": [["a"], [last]]}},
        ]
    },
}


@pytest.fixture(scope="module")
def shared_parts():
    """The fields of named tuples and frozen records that have a hash."""
    from labelkin.storage import trusted
    from labelkin.storage.encoders import fields_of

    name = "LinearTerm"
    return chain(60, name, fields_of(trusted.named("class", name)))


@pytest.mark.parametrize("way", [*WAYS_IN, *OBJECTS_IN])
def test_a_small_file_with_shared_parts_costs_little_time(why_not, shared_parts, way):
    """As a text or a hash the last part is 2⁶⁰ parts: this ends, or nothing does."""
    last = {"part": len(shared_parts) - 1}
    part = note(WAYS_IN[way](last)) if way in WAYS_IN else OBJECTS_IN[way](last)
    start = time.process_time()
    why_not([*shared_parts, part])
    assert time.process_time() - start < 5


def test_a_long_chain_of_parts_is_no_deep_recursion(why_not, shared_parts):
    name, state = shared_parts[0]["object"]
    parts = chain(3000, name, tuple(state))
    assert "nest deeper than 100 levels" in why_not([*parts, note({"bytes": {"part": 2999}})])


@pytest.mark.parametrize(
    ("field", "value"),
    [("names", 5), ("implies", [True]), ("implies", [[{"part": 0}, 1]]), ("groups", 3)],
)
def test_rules_of_other_types_are_errors(why_not, tmp_path, field, value):
    rules = Rules(implies=[("town", "sea")])
    path = save(LabelRescorer(rules=rules).fit(SETS), tmp_path / "ruled")
    about, model, data = take_apart(path)
    for part in model["parts"]:
        if part.get("object", [""])[0] == "BoundRules":
            part["object"][1][field] = value
    with pytest.raises(ValueError, match="rules"):
        load(put_together(tmp_path / "forged", about, model, data))


def test_keys_made_to_collide_are_an_error(why_not):
    keys = [{"int": hex(k * (2**61 - 1))} for k in range(20_000)]
    assert "hash cannot tell apart" in why_not([note({"dict": [keys, [0] * len(keys)]})])
    pairs = {"set": [{"tuple": [key]} for key in keys[:1000]]}
    assert "hash cannot tell apart" in why_not([note(pairs)])


@pytest.mark.parametrize("name", ["fit", "transform", "get_params", "set_output"])
def test_an_attribute_does_not_take_the_place_of_a_method(why_not, name):
    assert f"has the attribute '{name}'" in why_not([{"object": [NORMALIZER, {name: 1}]}])


def test_a_vectoriser_counts_in_numbers(why_not):
    state = {"dtype": {"dtype": "<U99999999"}, "vocabulary_": {"dict": [[], []]}}
    name = "sklearn.feature_extraction.text.CountVectorizer"
    assert "counts in the dtype <U99999999" in why_not([{"object": [name, state]}])


def test_a_file_does_not_choose_how_many_processes_are_started(tmp_path):
    model = NearestNeighbours(n_jobs=1).fit(X, SETS)
    about, written, data = take_apart(save(model, tmp_path / "model"))
    text = json.dumps(written).replace('"n_jobs": 1', '"n_jobs": 4000')
    forged = put_together(tmp_path / "forged", about, json.loads(text), data)
    assert 1 <= load(forged).n_jobs <= os.cpu_count()


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("labels", ["lie1", "lie2"], "other labels than its model has"),
        ("labels", ["sea"], "other labels than its model has"),
        ("classes", [], "other classes than it holds"),
    ],
)
def test_a_description_that_lies_is_an_error(tmp_path, key, value, reason):
    about, written, data = take_apart(save(LabelRescorer().fit(SETS), tmp_path / "model"))
    with pytest.raises(ValueError, match=reason):
        load(put_together(tmp_path / "forged", about | {key: value}, written, data))


class TestVocabularies:
    """A vocabulary whose columns do not belong together is an error when it is loaded."""

    @staticmethod
    def forged(tmp_path, change):
        from labelkin.vocabulary import Concept, Vocabulary

        concepts = [
            Concept("u:1", {"en": "a"}, "1", {"en": ("x",)}),
            Concept("u:2", {}, "", {}, ("u:1",)),
        ]
        model = NaiveBayes().fit(X.toarray(), SETS)
        model.concepts_ = Vocabulary.of(concepts, replaced={"u:0": "u:1"})
        about, written, data = take_apart(save(model, tmp_path / "honest"))
        (state,) = [
            part["object"][1]
            for part in written["parts"]
            if part.get("object", [""])[0] == "Vocabulary"
        ]
        change(state, written)
        return put_together(tmp_path / "forged", about, written, data)

    def test_an_honest_one_is_loaded(self, tmp_path):
        path = self.forged(tmp_path, lambda state, written: None)
        kept = load(path).concepts_
        assert (kept.uris, kept.name_of("u:0"), kept.narrower(["u:1"])) == (
            ("u:1", "u:2"), "a", {"u:1", "u:2"},
        )  # fmt: skip

    @pytest.mark.parametrize(
        ("key", "value", "reason"),
        [
            ("uris", {"tuple": ["u:1"]}, "more or fewer names"),
            ("uris", {"tuple": ["u:1", "u:1"]}, "not distinct texts"),
            ("uris", {"tuple": ["u:1", 2]}, "not distinct texts"),
            ("uris", ["u:1", "u:2"], "not distinct texts"),
            ("notations", {"tuple": ["1"]}, "more or fewer names"),
            ("labels", {"dict": [["en"], [{"tuple": ["a"]}]]}, "more or fewer names"),
            ("labels", {"dict": [[1], [{"tuple": ["a", ""]}]]}, "no mapping of texts"),
            ("labels", {"tuple": []}, "no mapping of texts"),
            ("notes", {"dict": [["en"], [{"tuple": ["a", "b"]}]]}, "other names that are none"),
            ("alternatives", {"dict": [["en"], [3]]}, "other names that are none"),
            ("broader", None, "refers to others than its 2 concepts"),
            ("disjoint", {"tuple": []}, "refers to others than its 2 concepts"),
            ("replaced", {"dict": [["u:0"], [7]]}, "names that are no texts"),
            ("name", 7, "names that are no texts"),
        ],
    )
    def test_columns_that_do_not_fit_are_an_error(self, tmp_path, key, value, reason):
        def change(state, written):
            state[key] = value

        with pytest.raises(ValueError, match=f"is no sound model file: .*{reason}"):
            load(self.forged(tmp_path, change))

    def test_positions_outside_are_an_error(self, tmp_path):
        from labelkin.vocabulary import Vocabulary

        model = NaiveBayes().fit(X.toarray(), SETS)
        far = np.array([[0, 5]], dtype=np.int32)
        model.concepts_ = Vocabulary("x", "", ("u:1",), {}, ("",), broader=far)
        with pytest.raises(ValueError, match="refers to others than its 1 concepts"):
            save(model, tmp_path / "x")
