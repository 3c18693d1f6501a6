"""Corpora with a SKOS vocabulary, in Annif's formats.

``places`` are Reuters' stories with their topics and countries as subjects, in a vocabulary of more
than 5,000 concepts: ISO 3166 from Debian's package iso-codes, and the topics by Reuters' own
descriptions. It needs both. ``newsroom`` comes with labelkin.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from labelkin import corpora

BASE = "http://example.org/"
_PREFIX = "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
#: Countries of the news of 1987 whose names are others today, or other ones in ISO 3166.
_RENAMED = {
    "usa": "US", "uk": "GB", "ussr": "RU", "west-germany": "DE", "east-germany": "DE",
    "south-korea": "KR", "north-korea": "KP", "iran": "IR", "syria": "SY", "venezuela": "VE",
    "tanzania": "TZ", "bolivia": "BO", "vietnam": "VN", "taiwan": "TW", "burma": "MM",
    "zaire": "CD", "ivory-coast": "CI", "turkey": "TR", "czechoslovakia": "CZ",
    "hong-kong": "HK", "uae": "AE", "yugoslavia": "RS",
}  # fmt: skip


class AnnifCorpus(NamedTuple):
    """Files for Annif.

    Attributes
    ----------
    name : str
        What it is called in tables.
    vocabulary : Path
        SKOS, as Turtle.
    train, ensemble, test : Path
        Documents for the sources, for what is trained on their suggestions, and to be judged by.
    n_concepts, n_documents : int
        How large it is.
    """

    name: str
    vocabulary: Path
    train: Path
    ensemble: Path
    test: Path
    n_concepts: int
    n_documents: int


def newsroom(folder: Path) -> AnnifCorpus:
    """Write the newsroom that comes with labelkin."""
    news = corpora.newsroom(3000)
    turtle = files("labelkin.vocabulary").joinpath("newsroom.ttl").read_text(encoding="utf-8")
    vocabulary = folder / "newsroom.ttl"
    vocabulary.write_text(turtle, encoding="utf-8")
    documents = [
        (str(text), [f"{BASE}newsroom/{label}" for label in labels])
        for text, labels in zip(news.documents, news.label_sets(), strict=True)
    ]
    first = len(news.train) * 6 // 10
    parts = ([documents[i] for i in some] for some in (
        news.train[:first], news.train[first:], news.test
    ))  # fmt: skip
    return _written("newsroom", folder, vocabulary, turtle.count(" a skos:Concept "), *parts)


def missing_for_places(share: Path, reuters: Path | None) -> str | None:
    """Return why the corpus ``places`` cannot be made; ``None``: it can."""
    if not (share / "iso-codes/json/iso_3166-2.json").is_file():
        return f"Debian's package iso-codes is not in {share}"
    if reuters is None or not (reuters / "reut2-000.sgm").is_file():
        return "Reuters-21578 is not in LABELKIN_DATA"
    return None


def places(folder: Path, share: Path, reuters: Path, most: Sequence[int]) -> AnnifCorpus:
    """Write Reuters' stories with topics and countries, limited to a size per part."""
    countries, concepts = _iso_concepts(share)
    for topic, name in _topics(reuters / "cat-descriptions_120396.txt").items():
        concepts[f"{BASE}topic/{topic}"] = (name, topic, None)
    vocabulary = folder / "places.ttl"
    vocabulary.write_text(_turtle(concepts), encoding="utf-8")
    parts: dict[str, list[tuple[str, list[str]]]] = {"TRAIN": [], "TEST": []}
    for path in sorted(reuters.glob("*.sgm")):
        for story in path.read_text(encoding="latin-1").split("</REUTERS>"):
            part = re.search(r'TOPICS="YES" LEWISSPLIT="(\w+)"', story)
            body = re.search(r"<BODY>(.*?)</BODY>", story, re.DOTALL)
            if part is None or part[1] not in parts or body is None:
                continue
            title = re.search(r"<TITLE>(.*?)</TITLE>", story, re.DOTALL)
            topics, where = (
                re.findall(r"<D>(.*?)</D>", re.search(rf"<{tag}>(.*?)</{tag}>", story)[1])
                for tag in ("TOPICS", "PLACES")
            )
            subjects = [f"{BASE}topic/{one}" for one in topics]
            subjects += [countries[one] for one in where if one in countries]
            subjects = [one for one in dict.fromkeys(subjects) if one in concepts]
            text = re.sub(r"&#?\w+;|\s+", " ", f"{title[1] if title else ''}. {body[1]}")
            if subjects:
                parts[part[1]].append((text, subjects))
    # In time the stories for the ensemble come after those for the sources, as in real life.
    train, test = parts["TRAIN"], parts["TEST"]
    middle = len(train) * 6 // 10
    chosen = zip((train[:middle], train[middle:], test), most, strict=True)
    some = [_spread(documents, n) for documents, n in chosen]
    return _written("Reuters, topics and places", folder, vocabulary, len(concepts), *some)


def _spread(documents: Sequence[tuple[str, list[str]]], n: int) -> list[tuple[str, list[str]]]:
    """Return ``n`` documents at even distances."""
    n = min(n, len(documents))
    return [documents[i * len(documents) // n] for i in range(n)]


def _iso_concepts(share: Path) -> tuple[dict[str, str], dict[str, tuple[str, str, str | None]]]:
    """Return URIs of countries by Reuters' names, and all places: name, code, what is above."""
    concepts: dict[str, tuple[str, str, str | None]] = {}
    countries: dict[str, str] = {}
    for domain, key in (("iso_3166-1", "alpha_2"), ("iso_3166-2", "code")):
        text = (share / f"iso-codes/json/{domain}.json").read_text(encoding="utf-8")
        (records,) = json.loads(text).values()
        for record in records:
            code, name = record[key], record.get("common_name", record["name"])
            above = f"{BASE}place/{code.partition('-')[0]}" if "-" in code else None
            concepts[f"{BASE}place/{code}"] = (name, code, above)
            if above is None:
                countries[name.lower().replace(" ", "-")] = f"{BASE}place/{code}"
    return countries | {old: f"{BASE}place/{code}" for old, code in _RENAMED.items()}, concepts


def _topics(descriptions: Path) -> dict[str, str]:
    """Return Reuters' names of its topics."""
    text = descriptions.read_text(encoding="latin-1").partition("****Subject Codes")[2]
    text = text.partition("\n****")[0]
    found = re.findall(r"^(\S.*?) +\(([A-Z0-9-]+)\)\s*$", text, re.MULTILINE)
    return {code.lower(): name for name, code in found}


def _turtle(concepts: dict[str, tuple[str, str, str | None]]) -> str:
    lines = [_PREFIX]
    for uri, (name, code, above) in concepts.items():
        said = [f"skos:prefLabel {json.dumps(name, ensure_ascii=False)}@en"]
        said += [f"skos:notation {json.dumps(code)}"]
        said += [f"skos:broader <{above}>"] if above else []
        lines.append(f"<{uri}> a skos:Concept ; {' ; '.join(said)} .\n")
    return "".join(lines)


def _written(
    name: str, folder: Path, vocabulary: Path, n_concepts: int, *parts: Iterable[object]
) -> AnnifCorpus:
    paths, n_documents = [], 0
    for part, documents in zip(("train", "ensemble", "test"), parts, strict=True):
        lines = [
            f"{' '.join(text.split())}\t{' '.join(f'<{one}>' for one in subjects)}\n"
            for text, subjects in documents
        ]
        paths.append(folder / f"{vocabulary.stem}-{part}.tsv")
        paths[-1].write_text("".join(lines), encoding="utf-8")
        n_documents += len(lines)
    return AnnifCorpus(name, vocabulary, *paths, n_concepts, n_documents)
