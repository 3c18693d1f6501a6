"""Parts of ``make integration`` that need none of the programs."""

import json
import re
import subprocess
import tomllib

import numpy as np
import pytest
from integration import annif_story, argilla_story, corpora, doccano_story, environments, page
from integration.environments import Environment, SkippedError


def subjects(path):
    return [re.findall(r"<(\S+)>", line.rpartition("\t")[2]) for line in path.open()]


def test_the_newsroom_has_its_subjects_in_its_vocabulary(tmp_path):
    pytest.importorskip("rdflib", reason="rdflib is in the extra skos")
    from labelkin.vocabulary import read_vocabulary

    found = corpora.newsroom(tmp_path)
    uris = set(read_vocabulary(found.vocabulary).uris)
    parts = [subjects(path) for path in (found.train, found.ensemble, found.test)]
    assert sum(map(len, parts)) == found.n_documents
    assert {uri for part in parts for row in part for uri in row} <= uris


def test_places_are_topics_and_countries(tmp_path):
    share, reuters = tmp_path / "share", tmp_path / "reuters"
    assert "iso-codes is not in" in corpora.missing_for_places(share, reuters)
    codes = share / "iso-codes/json"
    codes.mkdir(parents=True)
    countries = [{"alpha_2": "PE", "name": "Peru"}, {"alpha_2": "US", "name": "United States"}]
    (codes / "iso_3166-1.json").write_text(json.dumps({"3166-1": countries}))
    regions = [{"code": "PE-CUS", "name": "Cusco"}]
    (codes / "iso_3166-2.json").write_text(json.dumps({"3166-2": regions}))
    assert "LABELKIN_DATA" in corpora.missing_for_places(share, reuters)
    reuters.mkdir()
    (reuters / "cat-descriptions_120396.txt").write_text(
        "****Subject Codes (135)\n\nGold (GOLD)\nMoney/Foreign Exchange (MONEY-FX)\n"
    )
    story = (
        '<REUTERS TOPICS="YES" LEWISSPLIT="{}"><TOPICS><D>gold</D></TOPICS>'
        "<PLACES><D>peru</D><D>usa</D><D>atlantis</D></PLACES>"
        "<TITLE>A &lt;mine></TITLE><BODY>Gold in\nPeru.</BODY></REUTERS>"
    )
    split = ["TRAIN"] * 5 + ["TEST"] * 2
    (reuters / "reut2-000.sgm").write_text("".join(map(story.format, split)))
    assert corpora.missing_for_places(share, reuters) is None
    found = corpora.places(tmp_path, share, reuters, (2, 5, 5))
    lengths = [len(subjects(path)) for path in (found.train, found.ensemble, found.test)]
    assert lengths == [2, 2, 2]
    expected = [f"{corpora.BASE}{name}" for name in ("topic/gold", "place/PE", "place/US")]
    assert subjects(found.test)[0] == expected
    assert found.n_concepts == 5
    assert "<http://example.org/place/PE-CUS> a skos:Concept" in found.vocabulary.read_text()


def test_the_package_for_annif_has_the_licence():
    package = environments.TOP / "packages/labelkin-annif"
    licence = (environments.TOP / "LICENSE").read_bytes()
    assert (package / "LICENSE").read_bytes() == licence
    about = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    assert about["license-files"] == ["LICENSE"]
    assert "annif>=1.4,<1.5" in about["dependencies"]


def test_failed_installations_are_skipped_with_the_reason(tmp_path, monkeypatch):
    def run(command, *_):
        said = "WARNING: slow\nERROR: No matching distribution found for annif\n"
        raise subprocess.CalledProcessError(1, command, "", said)

    monkeypatch.setattr(environments, "_run", run)
    with pytest.raises(SkippedError, match=r"annif cannot be installed: ERROR: No matching"):
        Environment(tmp_path / "none", ["annif", "pytest"])


def test_documents_are_evaluated_as_in_annif():
    suggested = [["a", "b", "x", "y", "z", "c"], ["x"], []]
    found = annif_story.per_document(suggested, [["a", "c"], ["a", "b"], []])
    assert found["F1@5"] == pytest.approx([2 / 7, 0, 0])
    ideal = 1 + 1 / np.log2(3)
    assert found["NDCG"] == pytest.approx([(1 + 1 / np.log2(7)) / ideal, 0, 1])


def test_differences_are_of_the_same_documents():
    rng = np.random.RandomState(0)
    baseline = rng.rand(500)
    one = annif_story.difference(baseline, baseline + 0.1, "omikuji", "NDCG")
    assert (one.baseline, one.metric) == ("omikuji", "NDCG")
    assert (one.better, one.low, one.high) == pytest.approx((0.1, 0.1, 0.1))
    other = annif_story.difference(baseline, rng.rand(500), "omikuji", "NDCG")
    assert other.low < 0 < other.high


def test_the_page_has_the_requests_of_the_stories():
    body, template = doccano_story.on_the_page()
    assert body == {"text": "{{ text }}"}  # the only place where doccano puts its text
    from jinja2 import Template

    suggestions = [{"label": 'a "b"', "probability": 0.9}, {"label": "c", "probability": 0.6}]
    answer = {"suggestions": [*suggestions, {"label": "d", "probability": 0.2}]}
    rendered = Template(template).render(input=answer)
    assert json.loads(rendered) == [{"label": 'a "b"'}, {"label": "c"}]
    compile(argilla_story.on_the_page(), "annotation-tools.md", "exec")


def test_the_tables_of_the_page_are_written_by_the_stories(tmp_path):
    rows = [
        annif_story.Row(project, dict.fromkeys(annif_story.METRICS, 0.5 + i / 100), 1.0)
        for i, project in enumerate(annif_story.NAMES)
    ]
    differences = [
        annif_story.Difference(name, metric, 0.01, -0.02, 0.03)
        for name in ("omikuji", "ensemble")
        for metric in annif_story.COMPARED
    ]
    told = annif_story.Told("1.4.3", rows, differences, "", [])
    folder = tmp_path / "places/annif"
    folder.mkdir(parents=True)
    (folder / "told.json").write_text(json.dumps(told))
    assert annif_story.read_told(folder / "told.json") == told
    written = tmp_path / "page.md"
    written.write_text(f"before\n{page.BEGIN}old\n{page.END}after\n")
    page.write_tables(written, tmp_path)
    text = written.read_text()
    assert text.startswith(f"before\n{page.BEGIN}|  | places: F1@5 |")
    assert text.endswith(f"{page.END}after\n")
    assert "| labelkin's ensemble of the four | **0.570** | **0.570** | **0.570** |" in text
    assert "| the best source | +0.0100 (-0.0200 … +0.0300) |" in text
    assert "old" not in text
    written.write_text("no marks")
    with pytest.raises(ValueError, match="must have"):
        page.write_tables(written, tmp_path)
