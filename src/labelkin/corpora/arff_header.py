"""The header of an ARFF file: its relation and its attributes; and the values in its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from labelkin.corpora.text_files import bad_line


@dataclass(frozen=True)
class Attribute:
    """What one column holds.

    Attributes
    ----------
    name
        Without quotes and escapes.
    values
        The values it may take, as declared; ``None``: numbers.
    line
        Where it is declared, from 1.
    """

    name: str
    values: tuple[str, ...] | None
    line: int


@dataclass(frozen=True)
class Header:
    """All that stands before the rows."""

    path: Path
    relation: str
    attributes: tuple[Attribute, ...]


def read_header(path: Path, lines: Iterator[tuple[int, str]]) -> Header:
    """Read the numbered lines up to ``@data``; what is left of them are the rows."""
    relation = ""
    attributes: dict[str, Attribute] = {}
    number = 0
    for number, line in meaningful_lines(lines):
        keyword, *rest = line.split(maxsplit=1)
        match keyword.lower():
            case "@relation":
                relation = unquote("".join(rest))
            case "@attribute":
                attribute = _read_attribute(path, number, line)
                _refuse_repeated(path, attribute, attributes)
                attributes[attribute.name] = attribute
            case "@data":
                return Header(path, relation, tuple(attributes.values()))
            case _:
                raise bad_line(
                    path,
                    number,
                    "the header must have @relation, @attribute and @data, got "
                    f"{line[:60]!r}. Is it an ARFF file?",
                )
    raise bad_line(path, number, "the header must end with @data, got the end of the file.")


def meaningful_lines(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the stripped lines that are neither blank nor a ``%`` comment."""
    for number, line in lines:
        stripped = line.strip()
        if stripped and not stripped.startswith("%"):
            yield number, stripped


def split_values(text: str) -> list[str]:
    r"""Split at the commas that are not in quotes, and take the quotes off.

    Examples
    --------
    >>> split_values("1, 'red, or green', it\\'s, ?")
    ['1', 'red, or green', "it\\'s", '?']
    """
    if "'" not in text and '"' not in text:
        return [value.strip() for value in text.split(",")]
    return [unquote(value) for value in _VALUE.findall(text)]


def unquote(text: str) -> str:
    r"""Take quotes and their escapes off; text without quotes stays as it is.

    Examples
    --------
    >>> unquote(r"'it\'s'"), unquote(r"m\'usica")
    ("it's", "m\\'usica")
    """
    if len(text) < 2 or text[0] not in "'\"" or text[-1] != text[0]:
        return text
    return _ESCAPED.sub(lambda found: _ESCAPES.get(found[1], found[1]), text[1:-1])


_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_DECLARED = re.compile(rf"\S+\s+({_QUOTED}|[^\s'\"]\S*)\s*(.*)", re.DOTALL)
_VALUE = re.compile(rf"(?:^|,)\s*({_QUOTED}|[^,]*?)\s*(?=,|$)")
_ESCAPED = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_NUMBERS = {"numeric", "real", "integer"}


def _read_attribute(path: Path, number: int, line: str) -> Attribute:
    declared = _DECLARED.fullmatch(line)
    if not declared:
        raise bad_line(
            path, number, f"an attribute must be @attribute NAME TYPE, got {line[:60]!r}."
        )
    kind = declared[2]
    if kind.lower() in _NUMBERS:
        return Attribute(unquote(declared[1]), None, number)
    if kind.startswith("{") and kind.endswith("}"):
        return Attribute(unquote(declared[1]), tuple(split_values(kind[1:-1].strip())), number)
    raise bad_line(
        path,
        number,
        f"an attribute must be numeric or have its values in braces, got {declared[1]} with "
        f"{kind[:40]!r}. Texts and dates have to become numbers first.",
    )


def _refuse_repeated(path: Path, attribute: Attribute, earlier: dict[str, Attribute]) -> None:
    if attribute.name in earlier:
        raise bad_line(
            path,
            attribute.line,
            f"attributes must be distinct, got {attribute.name!r} again; the first is in line "
            f"{earlier[attribute.name].line}.",
        )
