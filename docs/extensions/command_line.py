"""The directive ``command-line``: every command as its own ``--help`` describes it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective
from typer.main import get_command

from labelkin.cli.app import Commands, app, load_command


class CommandLine(SphinxDirective):
    """A section for each command: its usage, what it does, its arguments and options."""

    def run(self) -> list[nodes.Node]:
        """Write the help of every command as Markdown, and read that."""
        text = "\n".join(line for command in _commands() for line in _section(*command))
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def _commands() -> Iterator[tuple[str, Any]]:
    """Yield commands with their whole name, ``labelkin corpus list``, in the order of the help."""
    yield "labelkin", get_command(app)
    for name in Commands.table:
        command = load_command(name)
        yield f"labelkin {name}", command
        for inner, subcommand in getattr(command, "commands", {}).items():
            yield f"labelkin {name} {inner}", subcommand


def _section(name: str, command: Any) -> Iterator[str]:
    context = command.make_context(name, [], resilient_parsing=True)
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    yield from (f"## {name}", "", "```text", usage, "```", "")
    yield from _prose(inspect.cleandoc(command.help or ""))
    for title, rows in _panels(name, command, context).items():
        yield from (f"**{title}**", "")
        for term, about in rows:
            yield from (f"`{term}`", f": {_escaped(' '.join(about.split()))}", "")


def _panels(name: str, command: Any, context: Any) -> dict[str, list[tuple[str, str]]]:
    """Return arguments and options by panel, or the commands of a group."""
    if name == "labelkin":
        return {}
    if hasattr(command, "commands"):
        rows = [(one, inner.get_short_help_str(200)) for one, inner in command.commands.items()]
        return {"Commands": rows}
    panels: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(context):
        if (record := parameter.get_help_record(context)) is not None:
            is_option = record[0].startswith("-")
            title = getattr(parameter, "rich_help_panel", None)
            panels.setdefault(title or ("Options" if is_option else "Arguments"), []).append(record)
    return panels


def _prose(text: str) -> Iterator[str]:
    """Yield the paragraphs of a help; examples, and what is indented, are to be typed."""
    typed: list[str] = []
    for paragraph in [*re.split(r"\n\s*\n", text), None]:
        example = re.match(r"Example:\s+(.*)", paragraph, re.DOTALL) if paragraph else None
        if example or (paragraph and paragraph.startswith("  ")):
            typed += [example[1]] if example else inspect.cleandoc(paragraph).splitlines()
            continue
        if typed:
            yield from ("```sh", *typed, "```", "")
            typed = []
        if paragraph:
            yield from (_escaped(" ".join(paragraph.split())), "")


def _escaped(text: str) -> str:
    return re.sub(r"([\\*_{}\[\]<>#|$])", r"\\\1", text)


def setup(app: Any) -> dict[str, bool]:
    """Offer the directive."""
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
