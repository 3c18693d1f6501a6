"""Commands whose modules are loaded when they are called, not when they are listed."""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group


class LazyCommand(NamedTuple):
    """Where a command is, and what a list says of it.

    Attributes
    ----------
    module
        In ``labelkin.cli``; it has a function named as the command, or for a command with commands
        of its own, ``app``.
    about
        One short sentence.
    """

    module: str
    about: str


class LazyCommands(TyperGroup):
    """A group that knows its commands by name, and loads the one that is called."""

    table: ClassVar[dict[str, LazyCommand]]

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, entry in self.table.items():
            self.add_command(TyperCommand(name, help=entry.about))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command as always, then put the real one in its place."""
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None and command is not None:
            command = load_command(name, self.table[name].module)
        return name, command, rest


def load_command(name: str, module: str) -> Any:
    """Import a command's module and return what typer makes of it."""
    found = import_module(f"labelkin.cli.{module}")
    if not hasattr(found, name):
        found.app.rich_markup_mode = None  # help as everywhere: plain, also on terminals
        return get_group(found.app)
    single = typer.Typer(
        add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
    )
    single.command(name)(getattr(found, name))
    return get_command(single)
