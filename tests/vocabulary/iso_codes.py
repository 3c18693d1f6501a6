"""A real vocabulary: countries and their subdivisions as SKOS, from Debian's package iso-codes.

``python tests/vocabulary/iso_codes.py /usr/share places.ttl de fi`` writes it: 5,000 subdivisions
of ISO 3166-2 under the countries of ISO 3166-1, with codes and names in English and the languages
named.
"""

import gettext
import json
import sys
from pathlib import Path

BASE = "http://example.org/iso-3166/"
PREFIXES = "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"


def has_iso_codes(share, languages=()):
    """Return whether the package, and its translations into languages, are there."""
    files = [share / "iso-codes/json/iso_3166-1.json", share / "iso-codes/json/iso_3166-2.json"]
    for language in languages:
        files.append(share / "locale" / language / "LC_MESSAGES/iso_3166-2.mo")
    return all(file.is_file() for file in files)


def places(share, languages):
    """Yield code, names by language, code of what is above (or None) and alternative names."""
    for domain, key in (("iso_3166-1", "alpha_2"), ("iso_3166-2", "code")):
        text = (share / f"iso-codes/json/{domain}.json").read_text(encoding="utf-8")
        (records,) = json.loads(text).values()
        translated = {
            language: gettext.translation(domain, share / "locale", [language])
            for language in languages
        }
        for record in records:
            name, code = record["name"], record[key]
            names = {"en": name, **{tag: one.gettext(name) for tag, one in translated.items()}}
            above = code.partition("-")[0] if "-" in code else None
            if "parent" in record:
                parent = record["parent"]
                above = parent if "-" in parent else f"{above}-{parent}"
            others = [record[k] for k in ("official_name", "common_name") if k in record]
            yield code, names, above, others


def write_skos(share, out, languages):
    """Write the vocabulary as Turtle; return how many concepts it has."""
    lines = [PREFIXES]
    for code, names, above, others in places(share, languages):
        said = [f'skos:notation "{code}"']
        said += [f"skos:prefLabel {quoted(name)}@{tag}" for tag, name in names.items()]
        said += [f"skos:altLabel {quoted(other)}@en" for other in others]
        said += [f"skos:broader <{BASE}{above}>"] if above else []
        lines.append(f"<{BASE}{code}> a skos:Concept ; {' ; '.join(said)} .\n")
    out.write_text("".join(lines), encoding="utf-8")
    return len(lines) - 1


def quoted(text):
    return json.dumps(text, ensure_ascii=False)


if __name__ == "__main__":
    share, out, *wanted = sys.argv[1:]
    print(f"{write_skos(Path(share), Path(out), wanted):,} concepts")
