"""Small files that declare large sizes, need much time, or contain terminal escapes."""

import bz2
import gzip
import io
import lzma
import os
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

sys.path.insert(0, str(Path(__file__).parent.parent / "storage"))

from forged_files import join_file, split_file
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import Normalizer

from labelkin import NaiveBayes, cli, load, save
from labelkin.corpora import vectors
from labelkin.files import printable
from labelkin.prediction.scores import read_label_sets, read_score_file
from labelkin.scaling import blocks
from labelkin.scaling.blocks import is_sparse

SETS = [["sea\x1b]0;X\x07"], ["town"]]


@pytest.fixture
def model(tmp_path):
    return save(NaiveBayes().fit([[1, 0], [0, 1]], SETS), tmp_path / "m.labelkin")


@pytest.mark.parametrize(
    ("n_pipelines", "reason"), [(6, "6 nested pipelines"), (150, "100 levels")]
)
def test_model_with_deep_pipelines_is_an_error(model, tmp_path, n_pipelines, reason):
    nested = {"object": ["sklearn.preprocessing.Normalizer", {}]}
    for _ in range(n_pipelines):
        steps = [{"tuple": ["step", nested]}]
        nested = {"object": ["sklearn.pipeline.Pipeline", {"steps": steps}]}
    about = split_file(model).about
    path = join_file(tmp_path / "forged", about, {"model": nested, "arrays": []})
    with pytest.raises(ValueError, match=reason):
        load(path)


@pytest.mark.parametrize("between", ["union", "columns"])
def test_pipelines_in_unions_and_columns_are_counted(tmp_path, between):
    nested = Normalizer()
    for _ in range(6):
        other = make_union(nested)
        if between == "columns":
            other = make_column_transformer((nested, [0, 1]))
        nested = make_pipeline(other)
    model = make_pipeline(nested, NaiveBayes()).fit(np.eye(2), [["a"], ["b"]])
    with pytest.raises(ValueError, match="nested pipelines, of at most 5"):
        save(model, tmp_path / "n")


def test_nested_pipelines_within_the_limit_are_loaded(tmp_path):
    nested = make_pipeline(NaiveBayes())
    for _ in range(3):
        nested = make_pipeline(nested)
    nested.fit([[1, 0], [0, 1]], [["a"], ["b"]])
    assert load(save(nested, tmp_path / "n")).predict([[1, 0]]).shape == (1, 2)


@pytest.mark.parametrize("sizes", ["2 3 100000000", "2 1000000000 3"])
def test_sizes_in_a_header_are_bounded_by_the_file(tmp_path, sizes):
    path = tmp_path / "xmc.txt"
    path.write_text(f"{sizes}\n0 0:1\n1 1:1\n")
    with pytest.raises(ValueError, match=r"a file of .* bytes must have at most"):
        vectors.read_extreme(path)


def test_highest_feature_of_libsvm_is_bounded_by_the_file(tmp_path):
    (tmp_path / "x.svm").write_text("1 2147483647:1\n")
    with pytest.raises(ValueError, match=r"must have at most .* features"):
        vectors.read_libsvm(tmp_path / "x.svm")


def test_terminal_escapes_in_labels_and_file_names_are_escaped(model, capsys):
    with pytest.raises(SystemExit):
        cli.main(["inspect", str(model)])
    with pytest.raises(SystemExit):
        cli.main(["inspect", "x\x1b[2J.labelkin"])
    said = "".join(capsys.readouterr())
    assert "\x1b" not in said
    assert "\\x1b[2J" in said


def test_printable_keeps_lines_and_escapes_controls():
    assert printable("a\tb\nc\x9b\r\u202e") == "a\tb\nc\\u009b\\u000d\\u202e"


# Every file below is small; all are read by one process with little memory and time.

READ = """
import resource, sys
from pathlib import Path
from labelkin import corpora
from labelkin.scaling import blocks
from labelkin.prediction.scores import read_label_sets, read_score_file
from labelkin.corpora import arff, lines, vectors
from labelkin.research.experiments import runs
from labelkin.vocabulary import read_vocabulary
import rdflib, scipy.sparse.csgraph
readers = {
    "scores": read_score_file, "labels": lambda path: read_label_sets(str(path)).labels,
    "block": blocks.read_block, "xmc": vectors.read_extreme,
    "svm": vectors.read_libsvm, "meka": arff.read_arff, "corpus": corpora.load,
    "lines": lambda path: list(lines.byte_lines(path)),
    "vocabulary": read_vocabulary, "truth": lambda path: runs.read_truth(path.parent),
}
used = resource.getpagesize() * int(Path("/proc/self/statm").read_text().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[1]) * 2**20,) * 2)
for kind, path in zip(sys.argv[2::2], sys.argv[3::2]):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    resource.setrlimit(resource.RLIMIT_CPU, (int(before) + 15, resource.RLIM_INFINITY))
    try:
        readers[kind](Path(path))
        print("read", path, flush=True)
    except ValueError as error:
        print("error", ascii(error)[:200], flush=True)
"""


def read_apart(files, megabytes=1_000):
    """Return the lines of a process that reads files in little memory, each in 15 CPU seconds.

    ``files`` are pairs of the name of a reader and a path.
    """
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            READ,
            str(megabytes),
            *(str(part) for pair in files for part in pair),
        ],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr[-2000:])
    return done.stdout.splitlines()


def archive(path, compression=zipfile.ZIP_DEFLATED, **members):
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content if isinstance(content, bytes) else npy(content))
    return path


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def header(descr, shape, n_bytes):
    """Return an array file that declares a shape, followed by zeros."""
    text = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text + bytes(n_bytes)


def csr(indptr, indices, shape, kind="csr", data=(1.0, 1.0, 1.0, 1.0), dtype=np.int32):
    return {
        "format": np.array(kind.encode()),
        "shape": np.array(shape),
        "data": np.array(data)[: len(indices)],
        "indices": np.array(indices, dtype),
        "indptr": np.array(indptr, dtype),
    }


MOST = 2**31 - 1
HUGE = 10**12
ARCHIVES = {
    "deflate bomb": {"scores": b"%s" % header("<f8", (10**4, 10**5), 2 * 10**8)},
    "declared shape": {"scores": header("<f8", (10**6, 10**6), 64)},
    "negative shape": {"scores": header("<f8", (-1, 4), 64)},
    "zero-width text": {"scores": np.ones((1, 2)), "labels": header("<U0", (10**9,), 0)},
    "empty but large": {"scores": header("<f8", (0, HUGE), 0)},
    "no characters": {"scores": np.ones((1, 1)), "labels": header("<U1", (1,), 0) + b"\xff" * 4},
    "subarrays": {"scores": header("(0,)<f8", (10**9,), 0)},
    "objects": {"scores": header("|O", (2, 2), 64)},
    "no array": {"scores": b"\x93NUMPY\3\0\xff\xff\xff\xff"},
    "overflowing ends": csr([0, MOST, -MOST - 1, -1, 1], [0], (4, 2)),
    "overflowing ends of 64 bits": csr(
        [0, 2**63 - 1, -(2**63), -1, 1], [0], (4, 2), dtype=np.int64
    ),
    "position outside": csr([0, 1, 2], [0, 9**9], (2, 2)),
    "columns": csr([0, 1, 2], [0, 9**9], (2, 2), "csc"),
    "many rows of columns": csr([0, 1, 2], [0, 1], (HUGE, 2), "csc"),
    "many columns": csr([0, 1, 2], [0, 1], (2, HUGE)),
    "blocks": {**csr([0, 1, 2], [0, 9**9], (4, 4), "bsr"), "data": np.ones((2, 2, 2))},
    "blocks of nothing": {**csr([0, 1, 2], [0, 1], (4, 4), "bsr"), "data": np.ones((2, 0, 0))},
    "coordinates": {
        **{"format": np.array(b"coo"), "shape": np.array([2, 2]), "data": np.ones(1)},
        **{"row": np.array([9**9]), "col": np.array([0])},
    },
    "many coordinates": {
        **{"format": np.array(b"coo"), "shape": np.array([HUGE, 2]), "data": np.ones(1)},
        **{"row": np.array([0]), "col": np.array([0])},
    },
    "many diagonals": {
        **{"format": np.array(b"dia"), "shape": np.array([HUGE, HUGE]), "data": np.ones((1, 3))},
        "offsets": np.array([0]),
    },
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_forged_archives_of_arrays_are_errors(tmp_path, name):
    path = archive(tmp_path / "s.npz", **ARCHIVES[name])
    readers = [read_score_file, lambda path: read_label_sets(str(path))]
    readers += [blocks.read_block] if is_sparse(ARCHIVES[name]) else []
    for reader in readers:
        with pytest.raises(ValueError, match=r"s\.npz"):
            reader(path)


def test_every_sparse_format_is_read(tmp_path):
    Y = sparse.csr_array(np.array([[1.0, 0, 1, 0], [0, 1, 0, 0]]))
    for kind in ("csr", "csc", "coo", "dia", "bsr"):
        sparse.save_npz(tmp_path / "s.npz", Y.asformat(kind))
        assert (read_score_file(tmp_path / "s.npz").values.toarray() == Y.toarray()).all()
        assert (blocks.read_block(tmp_path / "s.npz").toarray() == Y.toarray()).all()


def arff_file(path, attributes, rows):
    text = "\n".join(["@relation 'c: -C 1'", "@attribute l {0,1}", *attributes, "@data", *rows])
    path.write_text(text)
    return path


N = 20_000
WORDS = [f"w{i}" for i in range(N)]
SMALL_FILES = {  # name → reader, function that returns the content
    "xmc.txt": ("xmc", lambda: b"2 3 100000000\n0 0:1\n1 1:1\n"),
    "many.svm": ("svm", lambda: b"1 99999999999:1\n"),
    "most.svm": ("svm", lambda: b"1 2147483647:1\n"),
    "score.txt": ("scores", lambda: b"0:1 99999999999:0.5\n"),
    "header.txt": ("scores", lambda: b"1 99999999999\n0:1\n"),
    "bomb.jsonl.gz": (
        "corpus",
        lambda: gzip.compress(b'{"text": "%s", "labels": []}\n' % (b"a" * 9999) * 6_000, 1),
    ),
    "bomb.csv.bz2": (
        "corpus",
        lambda: bz2.compress(b"text,labels\n" + (b"a" * 999 + b",b\n") * 30_000, 1),
    ),
    "bomb.svm.xz": ("lines", lambda: lzma.compress(b"1 1:1\n" * 10**7, preset=0)),
    "deep.jsonl": ("corpus", lambda: b'{"text": ' + b"[" * 10**6 + b"\n"),
}


def test_small_files_take_little_memory(tmp_path):
    files = []
    for name, (kind, content) in SMALL_FILES.items():
        (tmp_path / name).write_bytes(content())
        files.append((kind, tmp_path / name))
    for name in ("deflate bomb", "declared shape", "zero-width text"):
        files.append(("scores", archive(tmp_path / f"{name}.npz", **ARCHIVES[name])))
    lines = read_apart(files)
    assert len(lines) == len(files)
    assert [line for line in lines if not line.startswith("error")] == []


ATTRIBUTES = {
    "values that rows do not mention": ([f"@attribute a{i} {{1,0}}" for i in range(N)], ["{}"] * N),
    "words": ([f"@attribute a {{{','.join(WORDS)}}}"], ["0,w1"] * N),
    "a place twice": (
        [f"@attribute a{i} numeric" for i in range(N)],
        ["{" + ",".join(f"{i} 1" for i in [*range(N), 5, N]) + "}"],
    ),
    "quoted pairs": (
        [f"@attribute a{i} numeric" for i in range(10 * N)],
        ["{" + ",".join(f"{i} '1'" for i in range(1, 10 * N)) + "   }"],
    ),
}


def test_arff_files_take_linear_memory_and_time(tmp_path):
    files = [
        ("meka", arff_file(tmp_path / f"{i}.arff", *content))
        for i, content in enumerate(ATTRIBUTES.values())
    ]
    assert len(read_apart(files, 2_000)) == len(files)
