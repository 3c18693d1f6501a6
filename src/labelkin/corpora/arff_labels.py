"""Which attributes of an ARFF file are labels: by MULAN's XML file, or by MEKA's ``-C``."""

from __future__ import annotations

import re
from pathlib import Path
from xml.parsers import expat

from labelkin.corpora.arff_header import Header
from labelkin.corpora.text_files import bad_line


def read_xml_labels(path: Path) -> dict[str, int]:
    """Return the names in ``<label name="…"/>`` and their lines; labels may be nested."""
    parser = expat.ParserCreate(namespace_separator=" ")
    labels: dict[str, int] = {}

    def on_element(tag: str, attributes: dict[str, str]) -> None:
        if tag.rpartition(" ")[2] != "label":
            return
        name, line = attributes.get("name"), parser.CurrentLineNumber
        if name is None or name in labels:
            got = "none" if name is None else f"{name!r} again"
            raise bad_line(path, line, f"a label must have a name of its own, got {got}.")
        labels[name] = line

    parser.StartElementHandler = on_element
    try:
        parser.Parse(path.read_bytes(), True)
    except expat.ExpatError as error:
        raise bad_line(
            path, error.lineno, f"the file must be XML, got {error}. Is the file cut off?"
        ) from None
    if not labels:
        raise ValueError(f'{path.name}: the file must have labels, <label name="…"/>, got none.')
    return labels


def labels_by_xml(xml: Path, labels: dict[str, int], header: Header) -> list[int]:
    """Return the positions of the attributes that the XML file names, in its order."""
    place = {attribute.name: j for j, attribute in enumerate(header.attributes)}
    for name, line in labels.items():
        if name not in place:
            raise bad_line(
                xml,
                line,
                f"a label must be an attribute of {header.path.name}, and {name!r} is none of its "
                f"{len(place)}. Do the two files belong together?",
            )
    return [place[name] for name in labels]


def labels_by_option(header: Header) -> list[int]:
    """Return the first n attributes for ``-C n`` in the relation, the last n for ``-C -n``."""
    option = re.search(r"(?:^|[\s:])-[Cc]\s+(-?[0-9]+)\b", header.relation)
    n_attributes = len(header.attributes)
    if not option:
        raise ValueError(
            f"{header.path.name}: the relation must say how many labels there are, as in "
            f"@relation 'name: -C 6', got {header.relation!r}. Where an XML file names the labels, "
            "use read_mulan."
        )
    n_labels = int(option[1])
    if not 0 < abs(n_labels) < n_attributes:
        raise ValueError(
            f"{header.path.name}: -C must leave both labels and features of the {n_attributes} "
            f"attributes, got -C {n_labels}."
        )
    everything = list(range(n_attributes))
    return everything[:n_labels] if n_labels > 0 else everything[n_labels:]
