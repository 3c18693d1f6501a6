"""ARFF of MULAN and MEKA: tiny files of our own, then the published sets."""

import io
from functools import cache

import numpy as np
import pytest
from benchmarks.corpus import DATA
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.io.arff import loadarff

from labelkin.corpora.arff import read_arff

SETS = DATA / "mulan"
needs_sets = pytest.mark.skipif(not SETS.exists(), reason=f"no {SETS}: set LABELKIN_DATA")

HEADER = """% a comment
@relation 'tiny: -C 2'

@ATTRIBUTE 'red wine' {0,1}
@attribute tea {0, 1}
@attribute "it's" numeric
@attribute\tlength real
@data
"""
XML = """<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="tea"></label>
<label name="red wine"><label name="length"/></label>
</labels>
"""


def write(folder, rows, header=HEADER, name="tiny.arff"):
    path = folder / name
    path.write_text(header + rows, encoding="utf-8")
    return path


def header_of(*attributes):
    lines = "".join(f"@attribute {attribute}\n" for attribute in attributes)
    return f"@relation 'tiny: -C 1'\n@attribute tea {{0,1}}\n{lines}@data\n"


def features(corpus):
    X = corpus.documents
    return (X.toarray() if sparse.issparse(X) else X).tolist()


def test_the_first_attributes_are_labels_and_the_others_features(tmp_path):
    corpus = read_arff(write(tmp_path, "1,0,2,0.5\n% more\n\n0, 1, 0, 1e1\n"))
    assert corpus.label_names.tolist() == ["red wine", "tea"]
    assert corpus.label_sets() == [("red wine",), ("tea",)]
    assert corpus.terms.tolist() == ["it's", "length"]
    assert features(corpus) == [[2.0, 0.5], [0.0, 10.0]]
    assert isinstance(corpus.documents, np.ndarray)
    assert (corpus.train.tolist(), corpus.test.tolist()) == ([0, 1], [])
    assert (corpus.name, corpus.features) == ("tiny", "weights")


def test_sparse_rows_make_a_sparse_matrix_that_liblinear_takes(tmp_path):
    corpus = read_arff(write(tmp_path, "{1 1,3 2}\n{}\n{ 2 3 , 0 1 }\n"))
    assert features(corpus) == [[0, 2], [0, 0], [3, 0]]
    assert corpus.label_sets() == [("tea",), (), ("red wine",)]
    assert corpus.documents.format == "csr"
    assert corpus.documents.indices.dtype == corpus.documents.indptr.dtype == np.int32
    assert corpus.documents.nnz == 2
    assert corpus.features == "counts"


@given(
    values=arrays(
        np.float64, (5, 4), elements=st.sampled_from([0.0, 1.0, 2.0, -1.5, 1e-9, 3.25, np.nan])
    ),
    labels=arrays(np.int64, (5, 3), elements=st.integers(0, 1)),
)
@settings(max_examples=30, deadline=None)
def test_dense_and_sparse_files_return_the_written_values(tmp_path_factory, values, labels):
    folder = tmp_path_factory.mktemp("arff")
    names = "".join(f"@attribute l{j} {{0,1}}\n" for j in range(3))
    names += "".join(f"@attribute f{j} numeric\n" for j in range(4))
    header = f"@relation 'r: -C 3'\n{names}@data\n"
    rows = [
        ["?" if v != v else repr(float(v)) if j >= 3 else str(int(v)) for j, v in enumerate(row)]
        for row in np.hstack([labels, values])
    ]
    pairs = [
        ",".join(f"{j} {v}" for j, v in enumerate(row) if v not in ("0", "0.0")) for row in rows
    ]
    dense = read_arff(write(folder, "\n".join(map(",".join, rows)), header, "dense.arff"))
    thin = read_arff(write(folder, "\n".join(f"{{{p}}}" for p in pairs), header, "sparse.arff"))
    for corpus in (dense, thin):
        np.testing.assert_array_equal(features(corpus), values)
        np.testing.assert_array_equal(corpus.Y, labels)
    assert dense.features == thin.features


def test_yes_and_no_are_one_and_zero_whatever_their_order(tmp_path):
    header = header_of("a {YES,NO}", "b {false,true}").replace("tea {0,1}", "tea {no,yes}")
    corpus = read_arff(write(tmp_path, "yes,YES,false\nno,NO,true\n", header))
    assert features(corpus) == [[1, 0], [0, 1]]
    assert corpus.label_sets() == [("tea",), ()]
    assert corpus.terms.tolist() == ["a", "b"]


def test_attributes_absent_from_a_sparse_row_have_the_first_declared_value(tmp_path):
    header = header_of("a {YES,NO}", "b {3,4}", "c {0,1}")
    corpus = read_arff(write(tmp_path, "{}\n{1 NO,2 4}\n", header))
    assert features(corpus) == [[1, 3, 0], [0, 4, 0]]


def test_the_names_of_the_documents_are_not_a_feature(tmp_path):
    header = header_of("who {ann,'bob, jr'}", "x numeric")
    corpus = read_arff(write(tmp_path, "1,'bob, jr',2\n1,ann,3\n{2 5}\n", header), ids="who")
    assert corpus.ids.tolist() == ["bob, jr", "ann", "ann"]
    assert corpus.terms.tolist() == ["x"]
    with pytest.raises(ValueError, match=r"line 3: an attribute must be .*ids=NAME"):
        read_arff(tmp_path / "tiny.arff")
    with pytest.raises(ValueError, match=r"ids must be one of the 2 attributes of .* got 'whom'"):
        read_arff(write(tmp_path, "1,2\n", header_of("x numeric")), ids="whom")


def test_a_question_mark_is_an_unknown_label_or_a_missing_value(tmp_path):
    corpus = read_arff(write(tmp_path, "?,1,?,0\n0,1,1,0\n{0 ?,2 1}\n"))
    np.testing.assert_array_equal(corpus.Y, [[np.nan, 1], [0, 1], [np.nan, 0]])
    np.testing.assert_array_equal(features(corpus), [[np.nan, 0], [1, 0], [1, 0]])
    assert corpus.features == "binary"


def mulan(folder, *, xml=XML, train="1,0,2,1\n", test="{}\n", header=HEADER):
    header = header.replace("length real", "length {0,1}")
    (folder / "tiny.xml").write_text(xml, encoding="utf-8")
    write(folder, train, header, "tiny-train.arff")
    write(folder, test, header, "tiny-test.arff")
    return folder


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (
            {"xml": XML.replace('"tea"', '"beer"')},
            r"tiny.xml: a label must be an attribute of tiny-train.arff, and 'beer' is",
        ),
        (
            {"xml": XML.replace('"length"', '"tea"')},
            r"tiny.xml: .* distinct names, .*'tea', 'red wine', 'tea'",
        ),
        ({"xml": XML.replace('name="tea"', "")}, r"tiny.xml: .* distinct names, .* got \['', "),
        ({"xml": XML[:150]}, r"tiny.xml: the file must be XML, got .* cut off\?"),
        ({"test": ""}, r"tiny-test.arff: there must be rows after @data, got none"),
    ],
)
def test_a_damaged_set_is_named_with_its_line(tmp_path, change, match):
    with pytest.raises(ValueError, match=match):
        read_arff(mulan(tmp_path, **change))


def test_both_parts_must_have_the_same_attributes(tmp_path):
    path = mulan(tmp_path) / "tiny-test.arff"
    path.write_text(path.read_text().replace("numeric", "{0,1}"))
    with pytest.raises(ValueError, match=r"tiny-test.arff: the attributes must be those of tiny"):
        read_arff(tmp_path)


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        (
            "1,0,2\n",
            r"tiny.arff, line 9: a row must have 4 values, .* got 3. Is the file cut off\?",
        ),
        ("{1 1,3 2\n", r"line 9: a sparse row must end with }, got '{1 1,3 2'. Is the file cut"),
        ("{1 1}\n{4 1}\n", r"line 10: a sparse row must name attributes 0 to 3 once, got 4"),
        ("{-1 1}\n", r"line 9: a sparse row must be pairs of position and value, got '-1 1'"),
        ("{1}\n", r"line 9: a sparse row must be pairs of position and value, got '1'"),
        ("{1 1,1 0}\n", r"line 9: a sparse row must name attributes 0 to 3 once, got 1 twice"),
        ("2,0,2,3\n", r"line 9: attribute 'red wine' must be one of \{0,1\}, or \? .* got '2'"),
        ("1,0,nan,3\n", r"line 9: attribute \"it's\" must be a number, or \? .* got 'nan'"),
    ],
)
def test_a_row_that_does_not_fit_is_named_with_its_line(tmp_path, rows, match):
    with pytest.raises(ValueError, match=match):
        read_arff(write(tmp_path, rows))


@pytest.mark.parametrize(
    ("header", "match"),
    [
        (HEADER.replace("tea", "'red wine'"), r"line 5: attributes must be distinct, got 'red wi"),
        (HEADER.replace("real", "string"), r"line 7: an attribute must be .* string"),
        (HEADER.replace("tea {0, 1}", ""), r"line 5: an attribute must be @attribute NAME"),
        (HEADER.replace("{0, 1}", "{0,1,2}"), r"a label must be declared \{0,1\}, got 'tea'"),
        (HEADER.replace("@data\n", ""), r"line 8: the header must have .* got '1,0,2,3'"),
        (HEADER.replace("-C 2", "-C 4"), r"both labels and features of the 4 attributes, got -C 4"),
        ("", r"line 1: the header must have @relation, .* Is it an ARFF file\?"),
    ],
)
def test_a_damaged_header_is_named_with_its_line(tmp_path, header, match):
    with pytest.raises(ValueError, match=match):
        read_arff(write(tmp_path, "1,0,2,3\n", header))


PUBLISHED = {
    "emotions": (593, 72, 6, 1.868, "numbers", 391),
    "scene": (2407, 294, 6, 1.074, "weights", 1211),
    "yeast": (2417, 103, 14, 4.237, "numbers", 1500),
    # 1,186 with the attribute that is the protein's name.
    "genbase": (662, 1185, 27, 1.252, "binary", 463),
    "medical": (978, 1449, 45, 1.245, "binary", 333),
    "enron": (1702, 1001, 53, 3.378, "binary", 1123),
    "bibtex": (7395, 1836, 159, 2.402, "binary", 4880),
    "tmc2007-500": (28596, 500, 22, 2.158, "binary", 21519),
    "delicious": (16105, 500, 983, 19.02, "binary", 12920),
}


@cache
def published(name):
    return read_arff(SETS / name, ids="protein" if name == "genbase" else None)


@needs_sets
@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_set_has_its_counts(name):
    n_documents, n_features, n_labels, cardinality, kind, n_train = PUBLISHED[name]
    corpus = published(name)
    assert corpus.documents.shape == (n_documents, n_features)
    assert corpus.Y.shape == (n_documents, n_labels)
    digits = 2 if name == "delicious" else 3
    assert round(corpus.Y.sum() / n_documents, digits) == cardinality
    assert (corpus.features, corpus.name) == (kind, name)
    assert (len(corpus.train), len(corpus.test)) == (n_train, n_documents - n_train)
    assert len(set(corpus.terms.tolist())) == n_features


@needs_sets
@pytest.mark.parametrize("name", ["emotions", "yeast"])
def test_dense_numbers_are_those_that_scipy_reads(name):
    corpus = published(name)
    theirs, _ = loadarff(io.StringIO((SETS / name / f"{name}-test.arff").read_text()))
    for j, term in enumerate(corpus.terms):
        np.testing.assert_array_equal(corpus.documents[corpus.test, j], theirs[term])
    for j, label in enumerate(corpus.label_names):
        np.testing.assert_array_equal(corpus.Y[corpus.test, j], theirs[label].astype(np.float64))
