"""The page on scale: what to use for how many labels, tables and plots of what growth costs."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from docs.make.pages import write_page

COMMAND = "python -m benchmarks.growth --write docs/findings/scale.md"
PEER = "scikit-learn one-vs-rest"
_COLOURS = ("#1a5fb4", "#26a269", "#9141ac", "#b5490f", "#e5a50a", "#5e5c64", "#a51d2d", "#2190a4")

INTRODUCTION = """\
# Scale

What more documents, more labels and more features cost, and what to use for how many labels. The
figures below are of generated documents (Zipf frequencies, topics of 40 labels, four to five labels
per document, words that follow the labels), which are easier than real ones: read how costs grow
and who is how much cheaper, not how good anybody is.

## What to use

**Up to about 1,000 labels** the defaults do: `LabelDependenceClassifier()` with its SVM. Above 300
labels label evidence looks at the neighbours of a label alone, those that go with it clearly more
or less often than by chance, 32 at most; nothing is to be chosen. Name candidates
(`PlattSVM(top=100)`, `labelkin train --top 100`) from a few hundred labels on: the learned weight
then costs candidates × neighbours and not documents × labels.

**At 10,000 labels** use `NearestNeighbours(top=100)` or `NaiveBayes(top=100)`, or the scores of a
label tree such as Omikuji's, rescored (`labelkin rescore`). An SVM per label is fitted label by
label, with five folds each: minutes for thousands of documents, hours for a hundred thousand; the
command reports it before it starts. A model of 10,000 labels and 20,000 documents, with k-NN, is a
file of 20 MB and serves a suggestion in some ten milliseconds; on the page any label is found by a
part of its name and drawn with its neighbours.

**At 100,000 labels** take content scores from a classifier made for it, as a sparse matrix of
candidates, and let `LabelRescorer` add what the labels say: the label layer of 100,000 labels and a
million label sets fits in a few minutes and some hundred megabytes (`python -m benchmarks.scale
--one layer 1000000 100000 0`), and takes blocks of documents from a file (`fit_blocks`).

What to expect of it: the stronger the content classifier, the less there is to gain in ranking.
On top of an extreme classifier precision at k stays where it is; what label evidence still gives
there are decisions on rare labels (macro F1), reactions to labels that a person accepts or rejects,
rules, and explanations. The share of true labels that are candidates is a ceiling for everything,
and every evaluation of candidates reports it (`candidate_recall`).
"""


@dataclass(frozen=True)
class Growth:
    """Everything that was measured.

    Attributes
    ----------
    tables
        By what grows: pairs of a size (documents, labels, features) and what each system took.
    systems
        In the order of the columns.
    machine, versions, missing
        Where it was measured, with what, and which peers could not be installed, and why.
    rounds, seconds
        Turns of each, and the CPU seconds after which one was ended.
    left_out
        Sizes of the plan, the largest, that were not measured.
    """

    tables: dict[str, list[tuple[dict[str, int], dict[str, Any]]]]
    systems: list[str]
    machine: str
    versions: dict[str, str]
    missing: dict[str, str]
    rounds: int
    seconds: int
    left_out: int = 0

    def to_json(self) -> str:
        """Return it as text that can be kept."""
        plain = {
            what: [
                (size, {name: _plain(one) for name, one in found.items()}) for size, found in rows
            ]
            for what, rows in self.tables.items()
        }
        return json.dumps({**asdict(self), "tables": plain}, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Growth:
        """Read what was kept."""
        kept = json.loads(text)
        return cls(**{**kept, "tables": {k: rows for k, rows in kept["tables"].items() if rows}})


def write(growth: Growth, path: Path) -> None:
    """Write the page, and its picture beside it."""
    picture = path.with_suffix(".svg")
    picture.write_text(draw(growth), encoding="utf-8")
    versions = ", ".join(f"{name} {number}" for name, number in growth.versions.items())
    setting = [
        f"- written by `{COMMAND}`; `make bench-scale` does the same",
        f"- machine: {growth.machine}; one thread each, every measurement in a separate process",
        f"- versions: {versions}",
        f"- CPU time, user and system; rounds: {growth.rounds}, with other documents each, of which"
        " the median; at every size the systems take turns",
        f"- systems were stopped after {growth.seconds} CPU seconds, and were not run"
        " anything larger",
        *(f"- {name} is not in the tables: {reason}" for name, reason in growth.missing.items()),
        *([f"- not measured yet: the {growth.left_out} largest sizes"] if growth.left_out else []),
    ]
    alt = "CPU seconds of a fit as documents, labels and features grow"
    head = [INTRODUCTION, "## How it was measured", "", *setting, "", _REMARKS]
    bars = _bars_of(path)  # measured by another program
    text = "\n".join([*head, f"![{alt}]({picture.name})", "", tables(growth), *_bars(bars)])
    write_page(path, text)


BARS_HEAD = ("| bar | measured | must be | holds |", "| --- | ---: | ---: | --- |")
_BARS = """\
## What must hold

Measured by `python -m benchmarks.scale_bars --write docs/findings/scale.md`, CPU time, every
generated measurement in a separate process. Where documents are compared one by one, the
difference stands with its standard error.

Twice the documents cost more than twice, because more labels then deviate clearly from chance: a
label has more neighbours, and each of their weights costs as many more documents. So time per
stored weight is what grows with the documents. Twice the labels on the same label sets share the
same counts: there are more labels, each in fewer documents and with fewer neighbours, and time
hardly grows.

The rows of delicious compare candidates with all labels, of its test documents and, out of fold,
of its training documents, four times as many. Those of Dask are CPU seconds of the scheduler, the
client and two worker processes as multiples of those that one process takes for the same blocks,
all read from files, with Dask's own settings: medians of five rounds,
measured in version 0.1.0 with a setting of glibc that reused freed memory and has been removed.
`python -m benchmarks.cluster` prints the range of the rounds.
"""


def write_bars(path: Path, lines: Sequence[str]) -> None:
    """Put bars into the page, in the place of those of the same name."""
    text = path.read_text(encoding="utf-8")
    before = text.partition(_BARS.splitlines()[0])[0].rstrip("\n")
    rows = {line.split(" | ")[0]: line for line in (*_bars_of(path), *lines)}
    write_page(path, "\n".join([before, "", *_bars(list(rows.values()))]))


def _bars_of(path: Path) -> list[str]:
    """Return the bars that the page has by now."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    found = text.partition(BARS_HEAD[1])[2]
    return [line for line in found.splitlines() if line.startswith("|")]


def _bars(lines: Sequence[str]) -> list[str]:
    return [_BARS, *BARS_HEAD, *lines, ""] if lines else []


_REMARKS = """\
scikit-learn's and LibMultiLabel's systems are linear SVMs without probabilities. labelkin's fit
includes what none of the others does: content evidence out of fold, probabilities, the label layer,
a learned weight and what known labels add; above 300 labels it looks at 100 candidates per
document. nDCG@5 is that of 500 new documents.
"""


def tables(growth: Growth) -> str:
    """Return the tables: CPU seconds of fits with their ratios, memory, prediction, nDCG@5."""
    parts: list[str] = []
    for what, rows in growth.tables.items():
        parts += [f"## More {what}", "", f"CPU seconds of a fit, and in brackets × {PEER}:", ""]
        parts += [*_table(growth, rows, _seconds), "", *_growth_lines(growth, what, rows), ""]
        parts += ["Peak of memory in MB, everything included:", ""]
        parts += [*_table(growth, rows, lambda one, _: _number(one["mb"], "{:,.0f}")), ""]
        parts += ["CPU milliseconds to score a new document, and nDCG@5:", ""]
        parts += [*_table(growth, rows, _prediction), ""]
    return "\n".join(parts)


def _table(growth: Growth, rows: list[Any], cell: Any) -> Iterator[str]:
    yield "| documents | labels | features | " + " | ".join(growth.systems) + " |"
    yield "|" + " ---: |" * (3 + len(growth.systems))
    for size, found in rows:
        plain = {name: _plain(one) for name, one in found.items()}
        cells = [f"{size[name]:,}" for name in ("documents", "labels", "features")]
        cells += [plain[s]["trouble"] or cell(plain[s], plain) for s in growth.systems]
        yield "| " + " | ".join(cells) + " |"


def _seconds(one: dict[str, Any], all_of_them: dict[str, Any]) -> str:
    peer = all_of_them[PEER]["fit"]
    against = "" if peer is None else f" ({one['fit'] / max(peer, 1e-9):.2g} ×)"
    return f"{one['fit']:.2f}{against}"


def _prediction(one: dict[str, Any], _: dict[str, Any]) -> str:
    return f"{1e3 * one['predict'] / 500:.2f}, {one['ndcg']:.3f}"


def _growth_lines(growth: Growth, what: str, rows: list[Any]) -> Iterator[str]:
    """Return the cost of doubling, from the first to the last finished size of one series."""
    factors = []
    first = rows[0][0]
    alike = [(size, found) for size, found in rows if _only(what, size, first)]
    for system in growth.systems:
        ended = [
            (size[what], _plain(found[system])["fit"])
            for size, found in alike
            if _plain(found[system])["fit"] is not None
        ]
        if len(ended) > 1:
            (a, low), (b, high) = ended[0], ended[-1]
            factor = (high / max(low, 1e-9)) ** (1 / _doublings(a, b))
            factors.append(f"{system} {factor:.1f} ×")
    if factors:
        yield f"Doubling the {what} alone costs: " + ", ".join(factors) + "."


def _doublings(a: int, b: int) -> int:
    return max(1, (b // a).bit_length() - 1)


def _only(what: str, size: dict[str, int], first: dict[str, int]) -> bool:
    return all(size[name] == first[name] for name in size if name != what)


def _number(value: float | None, form: str) -> str:
    return "" if value is None else form.format(value)


def _plain(one: Any) -> dict[str, Any]:
    return one if isinstance(one, dict) else asdict(one)


def draw(growth: Growth) -> str:
    """Return the picture: a panel for each way to grow, logarithmic both ways; SVG."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator

    style = {"svg.hashsalt": "scale", "svg.fonttype": "none", "font.size": 9}
    with rc_context(style):
        figure = Figure(figsize=(11, 4), layout="constrained")
        panels = figure.subplots(1, len(growth.tables), sharey=True, squeeze=False)[0]
        for panel, (what, rows) in zip(panels, growth.tables.items(), strict=True):
            alike = [(size, found) for size, found in rows if _only(what, size, rows[0][0])]
            for colour, system in zip(_COLOURS, growth.systems, strict=False):
                points = [
                    (size[what], one["fit"])
                    for size, found in alike
                    for one in [_plain(found[system])]
                    if one["fit"] is not None
                ]
                dashes = "-" if system.startswith("labelkin") else "--"
                panel.plot(
                    [x for x, _ in points],
                    [y for _, y in points],
                    dashes,
                    marker="o",
                    markersize=3,
                    color=colour,
                    label=system,
                )
            panel.set(xscale="log", yscale="log", xlabel=what)
            panel.set_xticks([size[what] for size, _ in alike])
            panel.set_xticklabels([f"{size[what]:,}" for size, _ in alike])
            panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            panel.yaxis.set_major_formatter("{x:g}")
            panel.minorticks_off()
            panel.grid(True, linewidth=0.3)
        panels[0].set_ylabel("CPU seconds of a fit")
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=4, frameon=False)
        file = io.StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(file, format="svg", metadata=nothing)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"
