"""Rules from files: tables, and vocabularies that the tests write themselves."""

import socket
import subprocess
import sys

import pytest

from labelkin.vocabulary import Rules, read_relations, read_vocabulary, rules_of

SKOS = "http://www.w3.org/2004/02/skos/core#"
OWL = "http://www.w3.org/2002/07/owl#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
PETS = Rules(exclusive=[("cat", "dog")], implies=[("poodle", "dog"), ("dog", "animal")])
PREFIXES = f"@prefix skos: <{SKOS}> . @prefix owl: <{OWL}> . @prefix : <http://example.org/> ."
TURTLE = (
    PREFIXES
    + """
:s a skos:ConceptScheme ; skos:prefLabel "Pets"@en .
:1 a skos:Concept ; skos:prefLabel "animal"@en, "Tier"@de .
:2 a skos:Concept ; skos:prefLabel "dog"@en, "Hund"@de ; skos:altLabel "hound"@en ;
   skos:broader :1 ; skos:narrower :3 .
:3 a skos:Concept ; skos:prefLabel "poodle"@en, "Pudel"@de ; skos:broader :2 ;
   skos:broadMatch <http://other.example/fur> .
:4 a skos:Concept ; skos:prefLabel "cat"@en, "Katze"@de ; owl:disjointWith :2 ; skos:related :1 .
"""
)
N_TRIPLES = "\n".join(
    [
        f'<http://example.org/{i}> <{SKOS}prefLabel> "{name}" .'
        for i, name in enumerate(["animal", "dog", "poodle", "cat"], start=1)
    ]
    + [
        f"<http://example.org/2> <{SKOS}broaderTransitive> <http://example.org/1> .",
        f"<http://example.org/2> <{SKOS}narrowerTransitive> <http://example.org/3> .",
        f"<http://example.org/4> <{RDF}type> <{SKOS}Concept> .",
        f"<http://example.org/2> <{OWL}disjointWith> <http://example.org/4> .",
        f"<http://example.org/4> <{OWL}disjointWith> <http://example.org/2> .",
    ]
)
RDF_XML = f"""<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="{RDF}" xmlns:skos="{SKOS}"
  xmlns:owl="{OWL}" xml:base="http://example.org/">
<skos:Concept rdf:about="1"><skos:prefLabel>animal</skos:prefLabel>
  <skos:narrower rdf:resource="2"/></skos:Concept>
<skos:Concept rdf:about="2"><skos:prefLabel>dog</skos:prefLabel></skos:Concept>
<skos:Concept rdf:about="3"><skos:prefLabel>poodle</skos:prefLabel>
  <skos:broader rdf:resource="2"/></skos:Concept>
<skos:Concept rdf:about="4"><skos:prefLabel>cat</skos:prefLabel>
  <owl:disjointWith rdf:resource="2"/></skos:Concept>
</rdf:RDF>"""
CONTEXT = {"skos": SKOS, "owl": OWL, "@base": "http://example.org/"}
JSON_LD = {
    "@context": CONTEXT,
    "@graph": [
        {"@id": "1", "@type": "skos:Concept", "skos:prefLabel": "animal"},
        {"@id": "2", "skos:prefLabel": "dog", "skos:broader": {"@id": "1"}},
        {"@id": "3", "skos:prefLabel": "poodle", "skos:broader": {"@id": "2"}},
        {
            "@id": "4",
            "@type": "skos:Concept",
            "skos:prefLabel": "cat",
            "owl:disjointWith": {"@id": "2"},
        },
    ],
}


@pytest.fixture
def written(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError(f"the network was asked: {arguments}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def read_skos(path, language=None):
    """The rules of a vocabulary by the names of its concepts, and the sorted names."""
    vocabulary = read_vocabulary(path, language=language)
    rules, name = rules_of(vocabulary), vocabulary.name_of
    named = Rules(
        exclusive=[[name(uri) for uri in group] for group in rules.exclusive],
        implies=[(name(a), name(b)) for a, b in rules.implies],
    )
    return named, tuple(sorted(map(name, vocabulary.uris)))


class TestSkos:
    def test_pairwise_disjoint_concepts_are_one_group(self, written):
        more = ":1 owl:disjointWith :5, :6 . :6 owl:disjointWith :5 . " + "".join(
            f':{i} a skos:Concept ; skos:prefLabel "{i}" .' for i in (1, 5, 6)
        )
        rules, _ = read_skos(written("three.ttl", PREFIXES + more))
        assert rules == Rules(exclusive=[("1", "5", "6")])

    def test_disjoint_resources_that_are_not_concepts_are_ignored(self, written):
        more = ":x owl:disjointWith :y . :1 owl:disjointWith :x ."
        assert read_skos(written("more.ttl", TURTLE + more), language="en")[0] == PETS

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("a.ttl", "this is no RDF"),
            ("a.nt", "<a> <b>"),
            ("a.rdf", "<html><p>not closed"),
            ("a.rdf", TURTLE),
            ("a.jsonld", "{"),
            ("a.json", b"\xff\xfe\x00"),
            ("a.ttl", b"\xff\xff"),
        ],
    )
    def test_a_file_that_is_not_rdf_is_an_error(self, written, name, content):
        with pytest.raises(ValueError, match=rf"{name}: the file must be RDF in .*cannot be read"):
            read_skos(written(name, content))

    @pytest.mark.parametrize("name", ["empty.ttl", "empty.nt"])
    def test_a_file_without_concepts_is_named(self, written, name):
        with pytest.raises(
            ValueError, match=rf"{name}: a vocabulary must have concepts.*0 triples"
        ):
            read_skos(written(name, ""))

    def test_a_concept_without_uri_is_an_error(self, written):
        path = written("pets.ttl", TURTLE + '[] a skos:Concept ; skos:prefLabel "person"@en .')
        with pytest.raises(ValueError, match=r"pets.ttl: Concepts must have a URI, got 1 without"):
            read_skos(path)

    def test_without_rdflib_the_install_line_is_given(self, written, monkeypatch):
        monkeypatch.setitem(sys.modules, "rdflib", None)
        with pytest.raises(ImportError, match=r'rdflib: pip install "labelkin\[skos\]"'):
            read_skos(written("pets.ttl", TURTLE))


class TestRelations:
    @pytest.mark.parametrize(
        "lines",
        [
            ["narrower,broader,relation", "poodle,dog,broader", "dog,animal,", "cat,dog,excludes"],
            ["poodle,dog", "", "dog , animal", '"dog","cat",Excludes'],
            ["relation,broader,narrower", ",dog,poodle", ",animal,dog", "excludes,cat,dog"],
            ["\ufeffNarrower,Broader", "poodle,dog", "dog,animal", "cat,dog,excludes", "  "],
        ],
    )
    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    @pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".TSV", "\t")])
    def test_rules_are_read_back_from_a_table(self, written, lines, end, suffix, delimiter):
        table = end.join(lines).replace(",", delimiter)
        assert read_relations(written("pets" + suffix, table)) == PETS

    def test_labels_may_hold_what_separates_lines_and_cells(self, written):
        path = written("odd.csv", '"dogs, small","do\u2028g"\n"a\nb",c\n')
        assert read_relations(path).implies == (("a\nb", "c"), ("dogs, small", "do\u2028g"))

    @pytest.mark.parametrize(
        ("table", "message"),
        [
            ("a,b\n\nc\n", r"x.csv, line 3: a row must have 2 or 3 columns.*got 1\. Is the delim"),
            ('"a\nb",c\na,b,broader,4\n', r"line 3: a row must have 2 or 3 columns.*got 4"),
            ("a,b,narrower\n", r"line 1: relation must be 'broader' or 'excludes', got 'narrower'"),
            ("a,b\na,a\n", r"line 2: a row must name two different labels, got 'a' and 'a'"),
            ("a,b\n,a\n", r"line 2: a row must name two different labels, got '' and 'a'"),
            ('a,b\n"c,d\n', r"line 2: a row must be cells in whole quotes or none"),
            ("a,b\nb,a\n", r"x.csv: Implications must not run in a circle"),
            ("a,b\na,b,excludes\n", r"x.csv: Rules must leave every label possible, but 'a'"),
            (b"a,b\nn\xe9e,b\n", r"x.csv, line 2: the text must be utf-8-sig, got 0xE9"),
        ],
    )
    def test_invalid_rows_are_errors_with_their_line(self, written, table, message):
        with pytest.raises(ValueError, match=message):
            read_relations(written("x.csv", table))

    def test_missing_files_and_other_endings_are_named(self, written, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"x.csv must be a file"):
            read_relations(tmp_path / "x.csv")
        with pytest.raises(ValueError, match=r"called .csv \(commas\) or .tsv.*got '.xls'"):
            read_relations(written("x.xls", "a,b"))


def test_importing_vocabularies_loads_no_rdflib():
    program = "import sys, labelkin.vocabulary; print('rdflib' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


class TestRulesOfAVocabulary:
    @staticmethod
    def pets(written, more=""):
        return read_vocabulary(written("pets.ttl", TURTLE + more))

    def test_all_concepts_are_related_by_uri(self, written):
        uri = {name: f"http://example.org/{i}" for i, name in enumerate("adpc", start=1)}
        expected = Rules(
            exclusive=[(uri["c"], uri["d"])],
            implies=[(uri["p"], uri["d"]), (uri["d"], uri["a"])],
        )
        assert rules_of(self.pets(written)) == expected

    @pytest.mark.parametrize("language", ["en", "de"])
    def test_labels_are_matched_by_name_in_the_language_that_fits(self, written, language):
        rules, names = read_skos(written("pets.ttl", TURTLE), language=language)
        assert rules_of(self.pets(written), names) == rules

    def test_implications_through_other_concepts_are_kept(self, written):
        rules = rules_of(self.pets(written), ["poodle", "animal", "stranger"])
        assert rules == Rules(implies=[("poodle", "animal")])
