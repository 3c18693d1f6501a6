"""A table of a TOML file that is taken apart key by key; what is left over is an error.

Every key that a reader asks for is remembered, so that the message on an unknown key can list the
keys there are.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_NOTHING = object()


def parse_toml(text: str, source: str) -> Table:
    """Parse the text of a file called ``source``; return its top table."""
    try:
        return Table(tomllib.loads(text), source)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{source}: the file must be TOML, and is not: {error}.") from None


class Table:
    """The keys and values of one table.

    Parameters
    ----------
    values
        What the table holds.
    source, place
        The file and the table's name in it, for messages.

    Examples
    --------
    >>> table = parse_toml("k = 3", "tea.toml")
    >>> table.whole_number("k", 1)
    3
    >>> parse_toml("n = 3", "tea.toml").finish()
    Traceback (most recent call last):
    ValueError: tea.toml: unknown key 'n'. There are no keys here.
    """

    def __init__(self, values: Mapping[str, Any], source: str, place: str = "") -> None:
        self.values = values
        self.source = source
        self.place = place
        self._asked: dict[str, None] = {}  # in order

    def __contains__(self, key: str) -> bool:
        return key in self.values

    @property
    def where(self) -> str:
        """File and table, as messages begin."""
        return f"{self.source}, [{self.place}]" if self.place else self.source

    def text(self, key: str, default: Any = _NOTHING) -> str:
        """Take a text that is not empty."""
        return self._take(key, default, "a text that is not empty", _is_text)

    def flag(self, key: str, default: Any = _NOTHING) -> bool:
        """Take ``true`` or ``false``."""
        return self._take(key, default, "true or false", _is_flag)

    def whole_number(self, key: str, default: Any = _NOTHING) -> int:
        """Take a whole number of at least 0."""
        return self._take(key, default, "a whole number of at least 0", _is_whole)

    def choice(self, key: str, choices: Sequence[str], default: Any = _NOTHING) -> str:
        """Take one of some texts."""
        return self._take(key, default, f"one of {listed(choices)}", lambda v: v in choices)

    def share(self, key: str, default: Any = _NOTHING) -> float:
        """Take a number between 0 and 1, both excluded."""
        return self._take(
            key, default, "a number between 0 and 1", lambda v: _is_number(v) and 0 < v < 1
        )

    def texts(self, key: str, choices: Sequence[str], default: Sequence[str]) -> tuple[str, ...]:
        """Take a list of distinct texts, all among ``choices``."""
        rule = f"a list of some of {listed(choices)}, each once"
        return tuple(self._list(key, default, rule, lambda v: v in choices))

    def numbers_or(self, word: str, key: str, default: Sequence[float]) -> tuple[float | str, ...]:
        """Take a list of distinct numbers of at least 0, the word among them if wanted."""
        rule = f"a list of distinct numbers of at least 0, or {word!r} among them"
        found = self._list(key, default, rule, lambda v: v == word or _is_positive(v))
        return tuple(v if v == word else float(v) for v in found)

    def whole_numbers(self, key: str, default: Sequence[int]) -> tuple[int, ...]:
        """Take a list of distinct whole numbers of at least 0."""
        rule = "a list of distinct whole numbers of at least 0"
        return tuple(self._list(key, default, rule, _is_whole))

    def table(self, key: str) -> Table | None:
        """Take a table; ``None`` where there is none."""
        found = self._take(key, None, "a table", lambda v: isinstance(v, dict))
        return None if found is None else Table(found, self.source, self._inside(key))

    def tables(self, key: str) -> list[Table]:
        """Take a list of tables, ``[[key]]``, or a single one, ``[key]``."""
        found = self._take(key, [], f"a table [{key}] or several [[{key}]]", _is_tables)
        several = [found] if isinstance(found, dict) else found
        return [Table(values, self.source, self._inside(key)) for values in several]

    def named_tables(self, key: str) -> dict[str, Table]:
        """Take the tables ``[key.NAME]`` by name."""
        outer = self.table(key)
        if outer is None:
            return {}
        found = {name: outer.table(name) for name in outer.values}
        return {name: table for name, table in found.items() if table is not None}

    def parameters(self, kinds: Mapping[str, Any]) -> dict[str, Any]:
        """Take those parameters that are given, each of its kind.

        Kinds are ``bool``, ``int``, ``float`` and ``str``; any other lets every value pass.
        """
        return {
            key: self._take(key, _NOTHING, *_KINDS.get(kind, _ANY))
            for key, kind in kinds.items()
            if self._knows(key)
        }

    def finish(self) -> None:
        """Refuse the keys that nobody asked for."""
        unknown = [key for key in self.values if key not in self._asked]
        if unknown:
            there_are = f"The keys are {listed(sorted(self._asked))}"
            raise ValueError(
                f"{self.where}: unknown key {listed(unknown)}. "
                f"{there_are if self._asked else 'There are no keys here'}."
            )

    def refuse(self, message: str) -> ValueError:
        """Return an error that begins with file and table."""
        return ValueError(f"{self.where}: {message}")

    def _knows(self, key: str) -> bool:
        """Remember the key; tell whether it is given."""
        self._asked[key] = None
        return key in self.values

    def _take(self, key: str, default: Any, rule: str, fits: Callable[[Any], bool]) -> Any:
        if not self._knows(key):
            if default is _NOTHING:
                raise self.refuse(f"{key} must be given: {rule}.")
            return default
        value = self.values[key]
        if not fits(value):
            raise self.refuse(f"{key} must be {rule}, got {value!r}.")
        return value

    def _list(
        self, key: str, default: Sequence[Any], rule: str, fits: Callable[[Any], bool]
    ) -> Sequence[Any]:
        def is_list(value: Any) -> bool:
            return isinstance(value, list) and all(map(fits, value)) and _are_distinct(value)

        found: Sequence[Any] = self._take(key, default, rule, is_list)
        return found

    def _inside(self, key: str) -> str:
        return f"{self.place}.{key}" if self.place else key


def listed(names: Sequence[str]) -> str:
    """Return names as messages list them.

    Examples
    --------
    >>> listed(["tea", "milk"])
    "'tea', 'milk'"
    """
    return ", ".join(repr(name) for name in names)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_positive(value: Any) -> bool:
    return _is_number(value) and 0 <= value < float("inf")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_tables(value: Any) -> bool:
    several = value if isinstance(value, list) else [value]
    return all(isinstance(one, dict) for one in several)


def _are_distinct(values: list[Any]) -> bool:
    return len(set(values)) == len(values)


def _is_anything(value: Any) -> bool:
    return True


_ANY = ("a value", _is_anything)
_KINDS: dict[Any, tuple[str, Callable[[Any], bool]]] = {
    bool: ("true or false", _is_flag),
    int: ("a whole number of at least 0", _is_whole),
    float: ("a number", _is_number),
    str: ("a text that is not empty", _is_text),
}
