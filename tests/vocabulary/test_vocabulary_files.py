"""Vocabularies from files: equal content in every format, and hostile files."""

import json
import os
import socket
import subprocess
import sys
import time

import pytest

from labelkin.vocabulary import read_vocabulary

rdflib = pytest.importorskip("rdflib", reason="rdflib is in the extra skos")

TURTLE = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xl: <http://www.w3.org/2008/05/skos-xl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix : <http://example.org/> .
:dog a skos:Concept ; skos:prefLabel "dog"@en, "Hund"@de ; skos:altLabel "hound"@en, "canine"@en ;
  skos:hiddenLabel "dgo"@en ; skos:notation "1.1" ; skos:broader :animal ;
  skos:scopeNote "Pets and  strays."@en .
:animal a skos:Concept ; rdfs:label "animal"@en ; skos:narrower :cat .
:cat a skos:Concept ; xl:prefLabel [ xl:literalForm "cat"@en ] ; owl:disjointWith :dog .
:mutt a skos:Concept ; skos:prefLabel "mutt"@en ; owl:deprecated true ; dct:isReplacedBy :dog .
:both a skos:Concept ; skos:prefLabel "both"@en ; dct:isReplacedBy :dog, :cat .
"""
BASE = "http://example.org/"
ENDINGS = {".ttl": "turtle", ".rdf": "pretty-xml", ".nt": "nt", ".jsonld": "json-ld"}


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*_arguments, **_options):
        raise AssertionError("nothing may be fetched")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_format_of_rdf_is_read_alike(tmp_path, ending, no_network):
    graph = rdflib.Graph().parse(data=TURTLE, format="turtle")
    path = tmp_path / f"pets{ending}"
    graph.serialize(path, format=ENDINGS[ending])
    pets = read_vocabulary(path, language="en")
    assert pets.name == "pets"
    assert pets.uris == tuple(f"{BASE}{name}" for name in ("animal", "both", "cat", "dog"))
    assert [pets.name_of(uri) for uri in pets.uris] == ["animal", "both", "cat", "dog"]
    assert pets.languages == ("de", "en")
    dog = pets.concept(f"{BASE}dog")
    assert dog.notation == "1.1"
    assert dog.alternatives == {"en": ("canine", "hound", "dgo")}
    assert dog.broader == (f"{BASE}animal",)
    assert pets.concept(f"{BASE}cat").broader == (f"{BASE}animal",)
    assert pets.replaced == {f"{BASE}mutt": f"{BASE}dog"}
    assert pets.disjoint.tolist() == [[2, 3]]


TABLES = {
    "annif.csv": "uri,label_en,label_de,notation\nu:1,dog,Hund,1.1\nu:2,cat,,\n",
    "semicolons.csv": "uri;label_en;label_de;notation\nu:1;dog;Hund;1.1\nu:2;cat;;\n",
    "header.tsv": "notation\turi\tlabel_de\tlabel_en\n1.1\t<u:1>\tHund\tdog\n\t<u:2>\t\tcat\n",
    "annif.tsv": "<u:1>\tdog\t1.1\n<u:2>\tcat\t\n",
    "two.csv": "u:1,dog\nu:2,cat\n",
    "named.csv": "\ufeffcode,name\r\nu:1,dog\r\n\r\nu:2,cat\r\n",
}


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_read_alike(tmp_path, name):
    (tmp_path / name).write_text(TABLES[name], encoding="utf-8")
    pets = read_vocabulary(tmp_path / name, language="en")
    assert pets.uris == ("u:1", "u:2")
    assert [pets.name_of(uri) for uri in pets.uris] == ["dog", "cat"]
    assert "en" in pets.languages
    if "label_de" in TABLES[name]:
        assert pets.name_of("u:1", "de") == "Hund"
    if "1.1" in TABLES[name]:
        assert pets.notations == ("1.1", "")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("", r"x.csv: a vocabulary must have concepts, got an empty table"),
        ("u:1,a,b,c\n", r"x.csv, line 1: .*2 or 3 cells, got 4"),
        ("uri,notation\nu:1,2\n", r"x.csv: the header must name the columns uri and label_en"),
        ("label_en,notation\nu:1,2\n", r"x.csv: the header must name the columns uri and label_en"),
        ("uri,label_en,label_en\nu:1,a,b\n", r"once, got 'label_en' again"),
        ("uri,label_en\nu:1\n", r"line 2: a row must have 2 cells, got 1"),
        ("uri,label_en\n,a\n", r"line 2: a concept must have a URI"),
        ("uri,label_en\nu:1,a\nu:1,b\n", r"x.csv: .*each concept once, got 'u:1' again"),
    ],
)
def test_invalid_tables_are_errors(tmp_path, table, message):
    (tmp_path / "x.csv").write_text(table)
    with pytest.raises(ValueError, match=message):
        read_vocabulary(tmp_path / "x.csv")


def test_missing_files_and_other_endings_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"x.ttl must be a file.*newsroom comes with"):
        read_vocabulary(tmp_path / "x.ttl")
    (tmp_path / "x.doc").write_text("")
    with pytest.raises(ValueError, match=r"must be called \.ttl, .*\.csv, \.tsv, got '\.doc'"):
        read_vocabulary(tmp_path / "x.doc")
    with pytest.raises(ValueError, match=r"newsroom.*'de', 'en', 'fi', got 'xx'"):
        read_vocabulary("newsroom", language="xx")


def test_the_packaged_vocabulary_names_every_label_of_its_corpus():
    from labelkin.corpora import newsroom

    vocabulary = read_vocabulary("newsroom")
    assert None not in vocabulary.match(newsroom(300).label_names.tolist())
    assert all(all(texts) for texts in vocabulary.labels.values())


RDF = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">&x9;</rdf:RDF>'


def laughs():
    lines = ['<!ENTITY x0 "lol">']
    for i in range(1, 10):
        unfolded = f"&x{i - 1};" * 10
        lines.append(f'<!ENTITY x{i} "{unfolded}">')
    return f"<!DOCTYPE r [{''.join(lines)}]>{RDF}"


@pytest.mark.parametrize(
    "content",
    [
        laughs(),
        f"<!DOCTYPE r [<!ENTITY x9 '{'long' * 1000}'>]>{RDF}",
        f"<!DOCTYPE r [{'<!ENTITY a SYSTEM `x`>'.replace('`', chr(34)) * 1001}]>{RDF}",
    ],
    ids=["nested", "long", "many"],
)
def test_entities_that_unfold_are_an_error_at_once(tmp_path, content):
    (tmp_path / "x.rdf").write_text(content)
    start = time.process_time()
    with pytest.raises(ValueError, match=r"x.rdf: entities of RDF/XML must be short texts"):
        read_vocabulary(tmp_path / "x.rdf")
    assert time.process_time() - start < 5


def test_entities_cannot_hide_in_another_encoding(tmp_path):
    (tmp_path / "x.rdf").write_text(laughs(), encoding="utf-16")
    with pytest.raises(ValueError, match=r"x.rdf: RDF/XML must be UTF-8"):
        read_vocabulary(tmp_path / "x.rdf")


REMOTE = "http://example.org/c.jsonld"
SKOS_NAME = "http://www.w3.org/2004/02/skos/core#prefLabel"


@pytest.mark.parametrize(
    "document",
    [
        {"@context": REMOTE},
        {"@context": {"@import": "file:///x"}},
        {"@context": [REMOTE]},
        {"@context": [[REMOTE]]},
        {"@context": [[[["file:///etc/hostname"]]]]},
        {"@context": [{}, [{}, [REMOTE]]]},
        {"@context": {"name": {"@id": SKOS_NAME, "@context": REMOTE}}, "name": "x"},
        {"@context": {"name": {"@id": SKOS_NAME, "@context": [["file:///x"]]}}, "name": "x"},
        {"@context": [[{"t": {"@id": SKOS_NAME, "@context": [{"@import": REMOTE}]}}]], "t": "x"},
        {"@context": {"T": {"@id": "u:T", "@context": REMOTE}}, "@type": "T"},
        {"@id": "u:1", "u:p": {"@list": [{"@context": REMOTE, "@id": "u:3"}]}},
        {"@id": "u:1", "@reverse": {"u:p": {"@context": REMOTE, "@id": "u:3"}}},
        {"@context": {"@context": [[REMOTE]]}},
        {"@graph": [{"@context": [["x.jsonld"]], "@id": "u:1"}]},
        [{"@context": [[REMOTE]]}],
    ],
    ids=str,
)
def test_no_context_is_fetched(tmp_path, document, no_network):
    (tmp_path / "x.jsonld").write_text(json.dumps(document))
    with pytest.raises(ValueError, match="must carry its context"):
        read_vocabulary(tmp_path / "x.jsonld")


def test_no_file_is_read_as_an_entity(tmp_path, no_network):
    (tmp_path / "secret").write_text("secret")
    address = (tmp_path / "secret").as_uri()
    text = RDF.replace(
        "&x9;", '<s:Concept rdf:about="u:1"><s:prefLabel>&x;a</s:prefLabel></s:Concept>'
    )
    text = text.replace("<rdf:RDF", '<rdf:RDF xmlns:s="http://www.w3.org/2004/02/skos/core#"')
    (tmp_path / "x.rdf").write_text(f'<!DOCTYPE r [<!ENTITY x SYSTEM "{address}">]>{text}')
    assert read_vocabulary(tmp_path / "x.rdf").name_of("u:1") == "a"


LONG = "http://example.org/" + "x" * 10**6
HEAD = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:s="http://www.w3.org/2004/02/skos/core#"'
SEVERAL = range(20_000)
MULTIPLIED = {
    "prefix.ttl": "@prefix s: <http://www.w3.org/2004/02/skos/core#> .\n"
    f"@prefix p: <{LONG}> .\n" + "".join(f"p:{i} a s:Concept .\n" for i in SEVERAL),
    "base.ttl": "@prefix s: <http://www.w3.org/2004/02/skos/core#> .\n"
    f"@base <{LONG}/> .\n" + "".join(f"<{i}> a s:Concept .\n" for i in SEVERAL),
    "base.rdf": f'{HEAD} xml:base="{LONG}/">'
    + "".join(f'<s:Concept rdf:about="{i}"/>' for i in SEVERAL)
    + "</rdf:RDF>",
    "attlist.rdf": f'<!DOCTYPE r [<!ATTLIST s:Concept s:note CDATA "{LONG}">]>{HEAD}>'
    + "".join(f'<s:Concept rdf:about="u:{i}"/>' for i in SEVERAL)
    + "</rdf:RDF>",
    "vocab.jsonld": json.dumps(
        {"@context": {"p": LONG}, "@graph": [{"@id": f"p:{i}", "p:a": "b"} for i in SEVERAL]}
    ),
    "terms.jsonld": json.dumps(
        {"@context": {"p": LONG, **{f"t{i}": f"p:{i}" for i in SEVERAL}}, "@id": "u:1"}
    ),
    "language.rdf": f'{HEAD} xml:lang="{"e" * 10**6}">'
    + "".join(f'<s:Concept rdf:about="u:{i}" s:prefLabel="a"/>' for i in SEVERAL)
    + "</rdf:RDF>",
    "entity.rdf": f'<!DOCTYPE r [<!ENTITY e "{"x" * 900}">]>{HEAD}><s:Concept rdf:about="u:1">'
    f"<s:note>{'&e;' * 10**6}</s:note></s:Concept></rdf:RDF>",
    "literal.rdf": f'<!DOCTYPE r [<!ENTITY e "{"x" * 150}">]>{HEAD}><s:Concept rdf:about="u:1">'
    f'<s:note rdf:parseType="Literal">{"&e;" * 10**6}</s:note></s:Concept></rdf:RDF>',
    "datatype.ttl": f"@prefix p: <{LONG}> .\n"
    + "".join(f'<u:{i}> <u:p> "1"^^p:a .\n' for i in SEVERAL),
    "contexts.jsonld": json.dumps(
        {"@context": [{"t0": "u:"}, *({f"t{i + 1}": f"t{i}:{'x' * 900}"} for i in range(2000))]}
    ),
    "chain.jsonld": json.dumps(
        {"@context": {"t0": "http://a/", **{f"t{i}": f"t{i - 1}:{i}" for i in SEVERAL[1:]}}}
    ),
}


@pytest.mark.parametrize("name", MULTIPLIED)
def test_lengths_do_not_multiply(tmp_path, name):
    (tmp_path / name).write_text(MULTIPLIED[name])
    program = (
        "import resource, sys; from labelkin.vocabulary import read_vocabulary; import rdflib\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**30,) * 2)\n"
        "resource.setrlimit(resource.RLIMIT_CPU, (30,) * 2)\n"
        "try: read_vocabulary(sys.argv[1])\n"
        "except ValueError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / name],
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        check=True,
    )
    assert done.stdout.startswith(name), done


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000])
def test_a_file_that_nests_too_deeply_is_an_error(tmp_path, text):
    (tmp_path / "x.jsonld").write_text(text)
    with pytest.raises(ValueError, match="cannot be read"):
        read_vocabulary(tmp_path / "x.jsonld")


def test_fifty_thousand_concepts_load_in_reasonable_time(tmp_path):
    rows = [f"http://example.org/{i},concept {i},Begriff {i},{i}" for i in range(50_000)]
    (tmp_path / "big.csv").write_text("\n".join(["uri,label_en,label_de,notation", *rows]))
    start = time.process_time()
    big = read_vocabulary(tmp_path / "big.csv")
    assert len(big) == 50_000
    assert time.process_time() - start < 20
