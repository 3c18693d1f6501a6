"""What each page of findings concludes: sentences and a plot, computed from the page's own tables.

A verdict is a template; its numbers, and which way it goes, come from the tables below it. Where a
table is missing, as in a page that is written in part, its sentence is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from statistics import mean, median
from typing import NamedTuple

from docs.make.page_tables import Table, numbers
from docs.make.plots import Point, dots, intervals, lines, scatter, shares


class Lead(NamedTuple):
    """The beginning of a page: sentences, and a picture with its description."""

    sentences: list[str]
    picture: str
    description: str


class Tables(list[Table]):
    """The tables of a page, found by what stands above them and in their columns."""

    def find(self, *headings: str, has: Iterable[str] = ()) -> Table | None:
        """Return the first table under all these headings (their beginnings) with these columns."""
        return next(iter(self.all(*headings, has=has)), None)

    def all(self, *headings: str, has: Iterable[str] = ()) -> list[Table]:
        """Return all such tables."""
        return [
            table
            for table in self
            if all(any(h.startswith(wanted) for h in table.headings) for wanted in headings)
            and set(has) <= set(table.columns)
        ]


def beyond(tables: Tables) -> Lead:
    """Say what the learned weight gives, on the paper's corpora and on others."""
    sentences, rows = [], dict[str, list[float]]()
    for group in ("The paper's corpora", "Other sets"):
        controls = _by_first(tables.find(group, "Controls"))
        means = _by_first(tables.find(group, "Scores", has=["mean over the cells"]))
        sure = _by_first(tables.find(group, "Is it sure?"))
        if not controls or not means or not sure:
            continue
        better, equal, worse = (int(n) for n in numbers(controls["BLR+M2 w=auto"][0]))
        surely = [sum(sum(numbers(c)) for c in sure[f"intervals wholly {w}"]) for w in _SIDES]
        content, learned = means["content, ½"], means["learned, ½"]
        sentences.append(
            f"**{group}**: label evidence with a learned weight is better than its content "
            "classifier "
            f"alone in **{better} of {better + equal + worse}** comparisons (content classifier × "
            "corpus × measure), worse "
            "in "
            f"{worse}; beyond chance (95 % intervals) better in {surely[0]:.0f} and worse in "
            f"{surely[1]:.0f}. Mean micro F1 {content[0]} → {learned[0]}, macro F1 {content[1]} → "
            f"{learned[1]}."
        )
        paper = [int(n) for n in numbers(controls["BLR+M2"][0])]
        calibrated = [int(n) for n in numbers(controls["BLR+M2 w=auto, against calibration"][0])]
        cut, both = means["content, GlobalCut"], means["learned, GlobalCut"]
        sentences.append(
            f"There the paper's full weight (M2) is better in {paper[0]} and worse in {paper[2]}. "
            "Against content calibrated label by label, which asks no other label, label evidence "
            "is "
            f"better in {calibrated[0]} and worse in {calibrated[2]}. One threshold tuned for "
            "micro "
            f"F1 gives content alone {cut[0]}, and label evidence {both[0]}."
        )
        scores = tables.find(group, "Scores", has=["cell"])
        if scores is not None and not rows:
            for row in scores.rows:
                cells = dict(zip(scores.columns, row, strict=True))
                names = "content, ½", "learned, ½", "learned, GlobalCut"
                rows[row[0]] = [_first(cells[f"micro F1: {name}"]) for name in names]
    legend = "content alone", "with label evidence", "and a tuned threshold"
    title = "Micro F1 on test documents, content classifier by content classifier"
    return Lead(sentences, dots(title, rows, legend, "micro F1"), _told(title, rows))


def known_labels(tables: Tables) -> Lead:
    """Say the gain of known labels, by strategy."""
    against = _by_first(tables.find("Better, equal, worse"))
    nothing = _by_first(tables.find("By what is revealed, against nothing known"))
    content = _by_first(tables.find("By what is revealed, against content alone"))
    sentences = []
    for name, words in (
        ("nothing known", "the same model without known labels"),
        ("content alone",) * 2,
    ):
        better, equal, worse, gain = numbers(against[f"against {name}"][-1])
        sentences.append(
            f"Against {words}, known labels make the labels that stay open better in "
            f"**{better:.0f} of {better + equal + worse:.0f}** comparisons (classifier × corpus × "
            "strategy × "
            f"measure), worse in {worse:.0f}; the mean gain is {_signed(gain)} % of the remaining "
            "loss."
        )
    gains = {name: numbers(cells[-1])[-1] for name, cells in nothing.items()}
    best, least = max(gains, key=gains.__getitem__), min(gains, key=gains.__getitem__)
    sentences.append(
        f"One true label is worth {_signed(gains['true 1'])} %, three {_signed(gains['true 3'])} "
        "%; "
        f"the most is gained by “{best}” ({_signed(gains[best])} %), the least by “{least}” "
        f"({_signed(gains[least])} %)."
    )
    further = _by_first(tables.find("Documents that have a further label"))
    if further:
        harm = {name: numbers(cells[-1]) for name, cells in nothing.items()}
        worst = max(harm, key=lambda name: harm[name][2] / sum(harm[name][:3]))
        texts = [
            f"pairs are worse in {worse:.0f} of {better + equal + worse:.0f} (mean gain "
            f"{_signed(gain)} %)"
            for better, equal, worse, gain in (harm[worst], numbers(further["further 1"][-1]))
        ]
        sentences.append(
            f"Where it hurts: after “{worst}”, {texts[0]}; of documents that have a further "
            f"label, after one is revealed, {texts[1]}."
        )
    rows = {
        name: [numbers(cells[-1])[-1], numbers(content[name][-1])[-1]]
        for name, cells in nothing.items()
        if name in content
    }
    title = "Mean gain on the labels that stay open, % of the remaining loss"
    legend = "against nothing known", "against content alone"
    return Lead(sentences, dots(title, rows, legend, "mean gain, %"), _told(title, rows))


def audit(tables: Tables) -> Lead:
    """Say how well errors are found, and what that is good for."""
    made = tables.find("Errors made on purpose", has=["audit ÷ content"])
    assert made is not None
    ratios = [_first(cell) for cell in made.column("audit ÷ content")]
    rows = {
        row[0]: [numbers(row[made.columns.index(name)])[-1] for name in ("content", "audit")]
        for row in made.rows
    }
    sentences = [
        f"Errors made on purpose are found **{min(ratios):.1f} to {max(ratios):.1f} times** as "
        "well "
        "(average precision, missing and wrong labels in one list) as by looking at one label at "
        "a "
        f"time, in {_of(sum(r > 1 for r in ratios), len(ratios))} rows of the table."
    ]
    repaired = tables.find("A classifier trained after cleaning")
    if repaired is not None:
        moves = [
            numbers(row[3])[0] - numbers(row[2])[0]
            for row in repaired.rows
            if row[1].startswith("10%")
        ]
        sentences.append(
            "A classifier trained after cleaning (10 % missing, 5 % wrong) has a better micro F1 "
            "on "
            f"{_of(sum(m > 0 for m in moves), len(moves))} rows, "
            f"{_signed(median(moves), 3)} in the median, {_signed(min(moves), 3)} at worst."
        )
    real = tables.find("Real errors")
    if real is not None:
        verdicts = real.column("verdict")
        sentences.append(
            f"In Reuters-21578 as it is, **{verdicts.count('error')} of the {len(verdicts)} "
            "surest** "
            f"suspects are errors of the corpus by a reader's judgement, "
            f"{verdicts.count('doubtful')} doubtful, {verdicts.count('right')} right."
        )
    costs = tables.find("What it costs")
    if costs is not None:
        seconds = [(_first(row[2]), _first(row[3])) for row in costs.rows]
        share = 100 * sum(label for _, label in seconds) / sum(svm for svm, _ in seconds)
        sentences.append(
            f"Beside the SVM it starts from, the label part costs {share:.0f} % of its time, all "
            "corpora together."
        )
    title = "Average precision of the list of suspects"
    picture = dots(title, rows, ("one label at a time", "LabelAudit"), "average precision")
    return Lead(sentences, picture, _told(title, rows))


def related_methods(tables: Tables) -> Lead:
    """Say who is ahead of whom, and in what."""
    against = next(table for table in tables if table.columns[0] == "against")
    rows = {row[0]: [float(n) for n in row[1:]] for row in against.rows}
    ahead = [name for name, (better, _, worse) in rows.items() if better > worse]
    sentences = [
        "With the same documents, features and content classifier, labelkin is better on more "
        "pairs "
        f"of corpus and measure than it is worse against **{_of(len(ahead), len(rows))} related "
        f"methods**; nearest are {_listed(list(rows)[:3])}."
    ]
    places = []
    for name in ("Micro F1", "Macro F1", "Hamming loss", "Subset 0/1 loss", "One-error"):
        table = tables.find(name)
        if table is not None:
            ranked = [row[0] for row in table.rows if numbers(row[-1])]
            place = ranked.index("labelkin") + 1
            before = f" (behind {_listed(ranked[: min(place - 1, 3)])})" if place > 1 else ""
            places.append(f"{name} {_ordinal(place)} of {len(ranked)}{before}")
    sentences.append(f"By mean rank over the corpora: {'; '.join(places)}.")
    cost = _by_first(tables.find("Cost"))
    if cost:
        times = {
            name: mean(
                _first(one) / _first(br)
                for one, br in zip(cost[name], cost["BR"], strict=True)
                if numbers(one) and _first(br)
            )
            for name in ("labelkin", "ECC")
            if name in cost
        }
        sentences.append(
            "Time to learn, × binary relevance, in the mean over the corpora: "
            + ", ".join(f"{name} {ratio:.1f}" for name, ratio in times.items())
            + "."
        )
    title = "labelkin against each related method: pairs of corpus and measure"
    return Lead(sentences, shares(title, rows, ("better", "equal", "worse")), _told(title, rows))


def reproduction(tables: Tables) -> Lead:
    """Say how far the paper's changes are found again."""
    points: dict[str, list[tuple[float, float]]] = {}
    rows = 0
    for table in tables.all(has=["micro Δ%", "macro Δ%"]):
        for name in ("micro Δ%", "macro Δ%"):
            for cell in table.column(name):
                found = numbers(cell)
                if len(found) == 3:  # ours, the paper's, the difference
                    points.setdefault(table.headings[1].split(" (")[0], []).append(
                        (found[1], found[0])
                    )
        rows += 1
    said = []
    for corpus, pairs in points.items():
        agree = sum(paper * ours > 0 for paper, ours in pairs)
        said.append(f"{corpus} {agree} of {len(pairs)}")
    every = [pair for pairs in points.values() for pair in pairs]
    agree = sum(paper * ours > 0 for paper, ours in every)
    sentences = [
        f"Whether an addition raises or lowers micro and macro F1 is found again in **{agree} of "
        f"{len(every)}** changes that the paper reports: {'; '.join(said)}.",
        f"The paper's changes are {_signed(median(p for p, _ in every))} % in the median, ours "
        f"{_signed(median(o for _, o in every))} %.",
        f"{rows - len(points)} sets that the paper does not have follow after its {len(points)} "
        "corpora.",
    ]
    title = "Change of F1 by adding label evidence, %: the paper's, and ours"
    described = f"{title}: {'; '.join(said)} have the same sign"
    return Lead(sentences, scatter(title, points, ("the paper's change, %", "ours, %")), described)


def ensemble(tables: Tables) -> Lead:
    """Say what several classifiers and views are worth."""
    rows, sentences = dict[str, Point](), []
    worth = tables.all("What it is worth", has=["corpus", "systems", "micro F1"])
    measures = ("micro F1", "macro F1", "Hamming", "subset 0/1", "one-error")
    better = worse = sure_better = sure_worse = 0
    for table in worth:
        for row in table.rows:
            for name in (m for m in measures if m in table.columns):
                found = numbers(row[table.columns.index(name)])
                if len(found) < 3:
                    continue
                up = 1 if name.endswith("F1") else -1
                value, *ends = (up * n for n in found[:3])
                better, worse = better + (value > 0), worse + (value < 0)
                sure_better += min(ends) > 0
                sure_worse += max(ends) < 0
                if name == "micro F1":
                    rows[f"{row[0]}: {_against(row[1])}"] = Point(value, min(ends), max(ends))
    total = better + worse
    sentences.append(
        f"Several content classifiers or views, with label evidence, are better than what they are "
        f"compared with in **{better} of {total}** differences that are not 0, worse in {worse}; "
        "beyond "
        f"chance (95 % intervals) better in {sure_better} and worse in {sure_worse}."
    )
    gains = {}
    for table in tables.all("Scores and costs", has=["system", "micro F1"]):
        score = {row[0]: _first(row[table.columns.index("micro F1")]) for row in table.rows}
        best = max(score, key=score.__getitem__)
        gains[table.headings[-1]] = (best, score[best], score.get("SVM + label evidence"))
    for corpus, (best, value, svm) in gains.items():
        beside = "" if svm is None else f", where one SVM with label evidence has {svm:.4f}"
        sentences.append(f"{corpus}: the best micro F1 is that of *{best}*, {value:.4f}{beside}.")
    title = "Micro F1: better by, with 95 % intervals"
    picture = intervals(title, rows, "better by (micro F1)")
    return Lead(sentences[:6], picture, _told(title, {k: [v.value] for k, v in rows.items()}))


def strong_content(tables: Tables) -> Lead:
    """Say what label evidence adds to an extreme classifier."""
    rows = dict[str, Point]()
    clear: dict[str, list[int]] = {}
    for table in tables.all(has=["measure", "content", "better by"]):
        for row in table.rows:
            cell = row[table.columns.index("better by")]
            value, error = numbers(cell)[:2]
            counts = clear.setdefault(row[0], [0, 0, 0])
            counts[0 if "▲" in cell else 2 if "▼" in cell else 1] += 1
            if row[0] in ("micro F1", "macro F1", "P@5", "nDCG@5"):
                name = f"{table.headings[-1]}: {row[0]}"
                rows[name] = Point(value, value - 2 * error, value + 2 * error)
    total = [sum(counts[i] for counts in clear.values()) for i in range(3)]
    decisions = [sum(clear[m][i] for m in ("micro F1", "macro F1")) for i in range(3)]
    ranks = [sum(clear[m][i] for m in ("P@1", "P@3", "P@5", "nDCG@5")) for i in range(3)]
    sentences = [
        "On top of an extreme classifier label evidence is clearly better (two standard errors) "
        "in "
        f"**{total[0]} of {sum(total)}** differences, clearly worse in {total[2]}.",
        "Decisions: micro and macro F1 clearly better in "
        f"{_of(decisions[0], sum(decisions))}; "
        f"P@k and nDCG@5 in {ranks[0]} of {sum(ranks)}, and there by "
        f"{_signed(max(p.value for n, p in rows.items() if 'F1' not in n), 4)} at most.",
    ]
    known = tables.find("Known labels", has=["corpus", "told", "micro F1"])
    if known is not None:
        steps = [numbers(cell) for cell in known.column("micro F1")]
        sentences.append(
            f"Known labels, which an extreme classifier cannot be told, raise micro F1 further in "
            f"{_of(sum(s[2] > s[1] for s in steps), len(steps))} cases, by "
            f"{_signed(median(s[2] - s[1] for s in steps), 3)} in the median."
        )
    title = "Better by, ± two standard errors"
    picture = intervals(title, rows, "better by")
    return Lead(sentences, picture, _told(title, {k: [v.value] for k, v in rows.items()}))


def next_documents(tables: Tables) -> Lead:
    """Say whether choosing documents pays."""
    default = "representative, entropy"
    rows = dict[str, Point]()
    counts: dict[str, list[int]] = {}
    for table in tables.all("Learning curves", has=["better by"]):
        for row in table.rows:
            if not row[0].endswith(" over random"):
                continue
            strategy = row[0].removesuffix(" over random")
            for name, cell in zip(table.columns[1:], row[1:], strict=True):
                value, half = numbers(cell)[:2]
                count = counts.setdefault(strategy, [0, 0, 0])
                count[0 if "▲" in cell else 2 if "▼" in cell else 1] += 1
                if strategy in (default, "entropy") and name == "micro F1":
                    point = Point(value, value - half, value + half)
                    rows[f"{table.headings[-1]}: {strategy}"] = point
    sentences = []
    for strategy, (better, open_, worse) in counts.items():
        sentences.append(
            f"*{strategy}*: clearly better than chance in **{better}** of "
            f"{better + open_ + worse} "
            f"comparisons (corpora × measures), clearly worse in {worse}."
        )
    needed = []
    for table in tables.all("Learning curves", has=["chosen by"]):
        cells = _by_first(table)
        if default in cells:
            needed.append(
                f"{table.headings[-1]} {cells[default][-1]} (chance: {cells['random'][-1]})"
            )
    sentences.append(
        f"Documents that the default, *{default}*, needs for the micro F1 that chance "
        f"ends with: {'; '.join(needed)}."
    )
    title = "Micro F1 over the learning curve: better than chance by, with 95 % intervals"
    picture = intervals(title, rows, "better by (micro F1)")
    return Lead(sentences, picture, _told(title, {k: [v.value] for k, v in rows.items()}))


def scale(tables: Tables) -> Lead:
    """Say what growth costs, and whether what must hold does."""
    sentences: list[str] = []
    picture = described = ""
    for column in ("labels", "documents", "features"):
        table = tables.find(f"More {column}", has=_SIZES)
        if table is None:
            continue
        series = _growth(table, column)
        title = f"CPU seconds of a fit, by the number of {column}"
        sentences.append(f"**More {column}**: {_largest_fits(table)}.")
        grown = {
            name: p for name, p in series.items() if name.startswith("labelkin") and len(p) > 1
        }
        if grown:
            by_factor: dict[str, list[str]] = {}
            for name, p in grown.items():
                short = name.removeprefix("labelkin, ")
                factor = f"{p[-1][0] / p[0][0]:.0f}"
                by_factor.setdefault(factor, []).append(f"{short} {p[-1][1] / p[0][1]:.1f} ×")
            told = (f"{f} × the {column} cost {', '.join(names)}" for f, names in by_factor.items())
            sentences.append(f"{'; '.join(told)} the time.")
        if not picture:
            described = _told(title, {name: [y for _, y in p] for name, p in series.items()})
            if max(map(len, series.values())) > 1:
                picture = lines(title, series, (column, "CPU seconds"))
            else:
                size = dict(zip(table.columns, table.rows[0], strict=True))
                title = f"CPU seconds of a fit: {', '.join(f'{size[n]} {n}' for n in _SIZES)}"
                picture = dots(title, {n: [p[0][1]] for n, p in series.items()}, ("",), "seconds")
    bars = tables.find("What must hold", has=["bar", "measured", "must be", "holds"])
    if bars is not None:
        held = [row[-1].startswith("yes") for row in bars.rows]
        broken = [row[0] for row, holds in zip(bars.rows, held, strict=True) if not holds]
        but = f"; not: {'; '.join(broken)}" if broken else ""
        sentences.append(f"Of what must hold at scale, {_of(sum(held), len(held))} bars hold{but}.")
    return Lead(sentences, picture, described)


def _growth(table: Table, column: str) -> dict[str, list[tuple[float, float]]]:
    """Return sizes and seconds of each system that ended, where nothing else grows."""
    sizes = [table.columns.index(name) for name in _SIZES if name != column]
    alike = [row for row in table.rows if all(row[i] == table.rows[0][i] for i in sizes)]
    found = {
        name: [
            (_first(row[table.columns.index(column)]), _first(row[at]))
            for row in alike
            if row[at][:1].isdigit()  # else it says why there is none
        ]
        for at, name in enumerate(table.columns)
        if name not in _SIZES
    }
    return {name: points for name, points in found.items() if points}


def _largest_fits(table: Table) -> str:
    """Say what a fit took at the largest size that labelkin ended with, and the peer there."""
    ours = [name for name in table.columns if name.startswith("labelkin")]
    for row in reversed(table.rows):
        cells = dict(zip(table.columns, row, strict=True))
        ended = [name for name in ours if cells[name][:1].isdigit()]
        if ended:
            took = ", ".join(
                f"{name.removeprefix('labelkin, ')} {_first(cells[name]):.3g} s" for name in ended
            )
            peer = cells["scikit-learn one-vs-rest"]
            beside = f"{_first(peer):.3g} s" if peer[:1].isdigit() else peer
            size = ", ".join(f"{cells[name]} {name}" for name in _SIZES)
            return (
                f"at {size} a fit of labelkin, with out-of-fold evidence, probabilities and the "
                "label "
                f"layer, takes {took} of CPU; scikit-learn's one-vs-rest, without them: {beside}"
            )
    return "no fit of labelkin ended"


def benchmarks(tables: Tables) -> Lead:
    """Say what it costs beside the usual alternatives."""
    table = tables.find(has=["subject", "against", "measured", "target", "verdict"])
    assert table is not None
    rows = dict[str, Point]()
    for row in table.rows:
        found = numbers(row[2].replace("–", " "))
        if "×" in row[2] and len(found) == 3:
            target = numbers(row[3])
            subject, *size = re.split(r", (?=[\d,]+ documents)", re.sub(r" \([^)]*\)", "", row[0]))
            name = "; ".join([f"{subject}\n÷ {row[1].partition('(')[0].strip()}", *size])
            if name in rows:  # the same alternative, as exact as ours
                name += f", {', '.join(re.findall(r'tol=[0-9.]+', row[1]))}"
            rows[name] = Point(*found, target[0] if target else None)
    verdicts = table.column("verdict")
    missed = [row for row in table.rows if row[4] == "missed"]
    cheaper = [name for name, point in rows.items() if point.high < 1]
    dearer = [name for name, point in rows.items() if point.low > 1]
    sentences = [
        f"**{verdicts.count('reached')} of {verdicts.count('reached') + len(missed)} targets** are "
        "reached"
        + (
            f"; missed: {'; '.join(f'{r[0]} ({_times(r[2])}, target {r[3]})' for r in missed)}."
            if missed
            else "."
        ),
        f"In all rounds cheaper than the alternative: {_of(len(cheaper), len(rows))} comparisons; "
        "dearer: "
        f"{len(dearer)}.",
    ]
    for row in table.rows:
        if row[0].startswith("LabelDependenceClassifier(), fit"):
            sentences.append(
                "What the label layer and the learned weight add, "
                f"{row[0].partition('fit, ')[2]}: a fit "
                f"takes {_times(row[2])} that of the SVM alone."
            )
    title = "CPU time ÷ that of the alternative, lowest to highest; upright: the target"
    picture = intervals(title, rows, "below 1: labelkin needs less", middle=1.0, log=True)
    return Lead(sentences, picture, _told(title, {k: [v.value] for k, v in rows.items()}))


def recipes(tables: Tables) -> Lead:
    """Say what each recipe gives."""
    rows, sentences = dict[str, Point](), []
    for table in tables.all(has=["micro F1, better by", "macro F1, better by"]):
        cells = _by_first(table)
        what, parts = table.headings[-1], []
        first = next(iter(cells.values()))
        for step, row in cells.items():
            for measure, cell in zip(("micro F1", "macro F1"), row, strict=True):
                found = numbers(cell)
                if len(found) == 4 and step in ("with label evidence", "with thresholds"):
                    rows[f"{what}: {measure}, {step.removeprefix('with ')}"] = Point(*found[1:])
        for measure, at in (("micro F1", 0), ("macro F1", 1)):
            end = numbers(list(cells.values())[-1][at])
            parts.append(f"{measure} {_first(first[at]):.3f} → {end[0]:.3f}{_sure(end)}")
        sentences.append(f"*{what}*, with label evidence and thresholds: {', '.join(parts)}.")
    title = "Better than the scores cut at ½ by, with 95 % intervals"
    picture = intervals(title, rows, "better by")
    return Lead(sentences, picture, _told(title, {k: [v.value] for k, v in rows.items()}))


#: Page → what it concludes.
LEADS: dict[str, Callable[[Tables], Lead]] = {
    "docs/findings/beyond.md": beyond,
    "docs/findings/known-labels.md": known_labels,
    "docs/findings/audit.md": audit,
    "docs/findings/related-methods.md": related_methods,
    "docs/findings/reproduction.md": reproduction,
    "docs/findings/ensemble.md": ensemble,
    "docs/findings/strong-content.md": strong_content,
    "docs/findings/next-documents.md": next_documents,
    "docs/findings/scale.md": scale,
    "docs/findings/benchmarks.md": benchmarks,
    "docs/how-to/recipes.md": recipes,
}

_SIDES = "better", "worse"
_SIZES = "documents", "labels", "features"


def _by_first(table: Table | None) -> dict[str, tuple[str, ...]]:
    return {} if table is None else {row[0]: row[1:] for row in table.rows}


def _first(cell: str) -> float:
    found = numbers(cell)
    return found[0] if found else float("nan")


def _signed(value: float, digits: int = 1) -> str:
    return f"{value:+.{digits}f}".replace("-", "−")


def _of(some: int, every: int) -> str:
    return f"all {every}" if some == every else f"{some} of {every}"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _ordinal(place: int) -> str:
    return {1: "1st", 2: "2nd", 3: "3rd"}.get(place, f"{place}th")


def _against(systems: str) -> str:
    return (
        systems.replace(" + label evidence", "").replace(" against ", " ÷ ").replace(" ÷ ", " – ")
    )


def _times(cell: str) -> str:
    return cell.partition(" (")[0]


def _sure(found: list[float]) -> str:
    return " (beyond chance)" if len(found) == 4 and found[2] > 0 else ""


def _told(title: str, rows: dict[str, list[float]]) -> str:
    """Describe a picture for those who do not see it: what it shows, from where to where."""
    values = [v for row in rows.values() for v in row]
    return f"{title}; {len(rows)} rows, from {min(values):.3g} to {max(values):.3g}"
