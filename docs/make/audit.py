"""Result folders → docs/findings/audit.md, the page on finding wrong and missing labels.

``python -m docs.make.audit RESULTS…`` in the root of the repository, where RESULTS are the folders
of the experiments ``audit-…``; with ``--run NAME`` that experiment is run into the first folder
before, beside cleanlab in a separate environment. Every number on the page comes from stored
runs; what people saw is in ``docs/findings/audit-notes.toml``.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from docs.make.pages import markdown_rows, write_page

FINDINGS = Path(__file__).parent.parent / "findings"
PAGE, NOTES = FINDINGS / "audit.md", FINDINGS / "audit-notes.toml"
RECIPES = {
    "random": "at random",
    "label": "rare labels are forgotten more often",
    "document": "short documents are labelled worse",
}
#: The recipe with which the rule was evaluated.
MAIN = ("random", 0.1, 0.05)

_OPENING = """\
# Finding wrong and missing labels

`LabelAudit` gives every cell of a label matrix the probability that what the corpus says is wrong.
The paper's one approximation is that the other labels of a new document are predicted; in a corpus
that is labelled already they are known, and equation 2 holds as it is written:

- **content evidence** out of fold: the classifier has not seen the document;
- **label evidence** of the document's own other labels, by layers that have not seen it;
- **how much each counts**, and how often labels are missing or wrong at all, is learned from the
  corpus as it is: a logistic regression that knows that its targets are not all right
  (`labelkin.curation.audit.noise`). So missing and wrong labels stand in one list, on one scale.

Three more things were needed. The *number of other labels* is evidence: a document of a corpus in
which every one has a label, and that has no other, needs this one. *Surveys* with many labels are
guarded: how much less label evidence counts beside many labels is learned, and never carried on
beyond what 99 of 100 documents have. And a *wrong* label of a rare class is no surer than one of a
frequent class: what counts is how much less probable the document makes it than its prior.

Cells that break a rule, and one text that is labelled in two ways, are issues of their own kind; of
cells that contradict each other one is wrong, and which follows by conditioning.

```python
from sklearn.feature_extraction.text import TfidfVectorizer

from labelkin import LabelAudit, corpora

news = corpora.newsroom(500)  # a synthetic corpus: texts with topic labels
X = TfidfVectorizer().fit_transform(news.documents)
audit = LabelAudit(random_state=0).fit(X, news.label_sets())
print(audit.issues_frame(top=5))  # the surest first; without top, up to where the list should end
print(audit.label_errors_[:3])  # how many are missing and wrong, label by label
Y_better = audit.cleaned()  # with the surest repairs made
```

Written by `python -m docs.make.audit RESULTS…` from stored runs of the experiments `audit-…`; no
number is typed by hand except what people saw."""

_MADE = """\
## Errors made on purpose

Average precision of the list of suspects: missing / wrong / both in one list. 10 % of the given
labels are deleted at random, and 5 % wrong ones added, drawn by the labels' frequencies. `PlattSVM`
out of fold on the damaged labels. *content* is what a tool sees that looks at one label at a time,
*cleanlab* is [cleanlab](https://github.com/cleanlab/cleanlab) itself on the same probabilities,
*labels* the label evidence alone,
*equation 2* the plain sum of content and label evidence without a learned scale. MULAN's music and
proteins stand there twice: with the numbers as they are and scaled for a linear classifier; the
better the content, the less is left for the labels.

The form of the rule and its few constants were chosen while looking at errors made at random, and
by label, in these corpora (two seeds each), so that its gain here is that of a choice among about a
dozen rules. Within a run nothing is learned from the right labels."""


def read_runs(folders: Iterable[Path]) -> list[dict[str, Any]]:
    """Return all runs of some folders."""
    return [
        json.loads(file.read_text(encoding="utf-8"))
        for folder in folders
        for file in sorted(folder.glob("*.json"))
    ]


def audit_page(runs: Sequence[dict[str, Any]]) -> str:
    """Return the page."""
    main = [run for run in runs if (run["recipe"], *run["rates"]) == MAIN]
    parts = [
        _OPENING,
        _MADE,
        _precision_table(main),
        "Precision at the number of errors, and the share of errors found when 1 % of all cells "
        "is read; then the number of errors expected and made, and of the list up to its end how "
        "much is right and how many of the errors are in it.",
        _reading_table(main),
        "## Other recipes and rates\n\nAverage precision of the joint list. " + _recipes_said(),
        _recipe_table(runs),
        "## A classifier trained after cleaning\n\nMicro and macro F1 on the test documents, whose "
        "labels are not damaged: trained on the damaged labels, on these after `cleaned()`, and on "
        "the right ones. Random errors.",
        _cleaning_table(runs),
        "## What it costs\n\nCPU seconds of the out-of-fold fit of `PlattSVM`, and of the label "
        "part of the audit.",
        _cost_table(main),
        _seen(),
    ]
    return "\n\n".join(parts) + "\n"


def _name(run: dict[str, Any]) -> str:
    scaled = run["weights"] if run["corpus"] in ("emotions", "yeast") else ""
    return run["corpus"] + {"as_is": ", as it is", "standardised_unit": ", scaled", "": ""}[scaled]


def _grouped(runs: Iterable[dict[str, Any]], *keys: str) -> dict[tuple[Any, ...], list[Any]]:
    groups: dict[tuple[Any, ...], list[Any]] = defaultdict(list)
    for run in runs:
        groups[(_name(run), *(_key(run[key]) for key in keys))].append(run)
    return dict(groups)


def _key(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _mean(runs: Sequence[dict[str, Any]], *path: str) -> float:
    values = []
    for run in runs:
        value: Any = run
        for key in path:
            value = value.get(key, float("nan")) if isinstance(value, dict) else float("nan")
        values.append(float(value))
    return float(np.mean(values))


def _precision_table(runs: Sequence[dict[str, Any]]) -> str:
    systems = ("content", "cleanlab", "labels", "equation 2", "audit")
    rows = []
    for (name,), group in _grouped(runs).items():
        cells = [
            " / ".join(f"{_mean(group, 'scores', one, kind):.3f}" for kind in KINDS)
            for one in systems
        ]
        ratio = _mean(group, "scores", "audit", "joint")
        content, peer = (_mean(group, "scores", one, "joint") for one in ("content", "cleanlab"))
        cells += [f"{ratio / content:.2f}", f"{ratio / peer:.2f}", str(len(group))]
        rows.append([name, *cells])
    heads = ["corpus", *systems, "audit ÷ content", "audit ÷ cleanlab", "seeds"]
    return markdown_rows(heads, rows)


KINDS = ("missing", "wrong", "joint")


def _reading_table(runs: Sequence[dict[str, Any]]) -> str:
    rows = []
    for (name,), group in _grouped(runs).items():
        cells = [
            " / ".join(f"{_mean(group, 'scores', one, what):.3f}" for one in ("content", "audit"))
            for what in ("precision at errors", "recall at 1 %")
        ]
        expected = [_mean(group, "expected", kind) for kind in KINDS[:2]]
        made = [_mean(group, f"n_{kind}") for kind in KINDS[:2]]
        end, found = _mean(group, "list_end"), _mean(group, "found_at_list_end")
        cells += [f"{e:.0f} of {m:.0f}" for e, m in zip(expected, made, strict=True)]
        rows.append([name, *cells, f"{found / end:.2f}", f"{found / sum(made):.2f}"])
    heads = [
        "corpus",
        "precision at errors: content / audit",
        "recall at 1 %: content / audit",
        "missing expected",
        "wrong expected",
        "list: precision",
        "list: recall",
    ]
    return markdown_rows(heads, rows)


def _recipes_said() -> str:
    return "Errors " + "; ".join(f"*{name}*: {said}" for name, said in RECIPES.items()) + "."


def _recipe_table(runs: Sequence[dict[str, Any]]) -> str:
    rows = []
    for (name, recipe, rates), group in sorted(_grouped(runs, "recipe", "rates").items()):
        values = [_mean(group, "scores", one, "joint") for one in ("content", "cleanlab", "audit")]
        rows.append(
            [
                name,
                recipe,
                f"{rates[0]:.0%} / {rates[1]:.1%}",
                *(f"{value:.3f}" for value in values),
                f"{values[2] / values[0]:.2f}",
            ]
        )
    heads = ["corpus", "errors", "missing / wrong", "content", "cleanlab", "audit", "÷ content"]
    return markdown_rows(heads, rows)


def _cleaning_table(runs: Sequence[dict[str, Any]]) -> str:
    rows = []
    random = [run for run in runs if run["recipe"] == "random"]
    for (name, rates), group in sorted(_grouped(random, "rates").items()):
        cells = [
            " / ".join(f"{_mean(group, 'test', one, f1):.3f}" for f1 in ("micro_f1", "macro_f1"))
            for one in ("damaged", "cleaned", "right")
        ]
        rows.append([name, f"{rates[0]:.0%} / {rates[1]:.1%}", *cells])
    return markdown_rows(["corpus", "missing / wrong", "damaged", "cleaned", "right"], rows)


def _cost_table(runs: Sequence[dict[str, Any]]) -> str:
    rows = []
    for (name,), group in _grouped(runs).items():
        content, label = (_mean(group, "seconds", part) for part in ("content", "label part"))
        shape = " × ".join(f"{size:,}" for size in group[0]["shape"])
        rows.append([name, shape, f"{content:.2f}", f"{label:.2f}", f"{label / content:.0%}"])
    return markdown_rows(["corpus", "documents × labels", "PlattSVM", "label part", "share"], rows)


def _seen() -> str:
    """Return what people saw in the surest suspects of a corpus as it is."""
    suspects = tomllib.loads(NOTES.read_text(encoding="utf-8"))["suspects"]
    counted = Counter(verdict for *_, verdict, _ in suspects)
    total = ", ".join(f"{counted[one]} {one}" for one in ("error", "doubtful", "right"))
    rows = [[str(place + 1), *map(str, one)] for place, one in enumerate(suspects)]
    said = (
        f"## Real errors\n\nThe {len(suspects)} surest suspects of the ModApte training documents "
        "of Reuters-21578, no error made, judged by one reader from headline and first "
        "paragraphs. *error*: the corpus is wrong; *doubtful*: one can argue; *right*: the corpus "
        f"is right. In all: {total}. Documents go by their ids in the collection."
    )
    return said + "\n\n" + markdown_rows(["", "document", "label", "kind", "verdict", "what"], rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page from the command line."""
    parser = argparse.ArgumentParser(prog="python -m docs.make.audit", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="RESULTS")
    parser.add_argument("--run", metavar="NAME", help="run this experiment first")
    parser.add_argument("--out", type=Path, default=PAGE, help="default: docs/findings/audit.md")
    options = parser.parse_args(arguments)
    if options.run:
        from benchmarks.cleanlab_peer import cleanlab_suspicion
        from docs.make.audit_runs import find_audits, run_audits

        run_audits(find_audits(options.run), options.folders[0], cleanlab_suspicion, verbose=1)
    print(write_page(options.out, audit_page(read_runs(options.folders))))


if __name__ == "__main__":
    main()
