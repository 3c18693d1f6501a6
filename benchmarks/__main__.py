"""Measure everything, or what ``--only`` names: ``python -m benchmarks``.

Progress goes to standard error, the table to standard output.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

#: Subject → where it is measured; imported late, after numba has been told where to compile to.
SUBJECTS = {
    "first-calls": "first_calls.measure_first_calls",
    "label-layer": "label_layer.measure_label_layer",
    "layer-share": "label_layer.measure_layer_share",
    "calibrated-svm": "svm.measure_calibrated_svm",
    "svm-tolerance": "svm_tolerance.measure_svm_tolerance",
    "libmultilabel": "libmultilabel_peer.measure_libmultilabel",
    "without-numba": "svm.measure_without_numba",
    "neighbours": "neighbours.measure_neighbours",
    "naive-bayes": "naive_bayes.measure_naive_bayes",
    "prediction": "prediction.measure_prediction",
    "default": "default_fit.measure_default",
    "ensemble": "presets.measure_ensemble",
    "presets": "presets.measure_presets",
    "splits": "splits.measure_splits",
    "chains": "related.measure_chains",
    "mlknn": "related.measure_mlknn",
}


def read_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=_at_least_one, default=5, help="turns of each (5)")
    parser.add_argument("--only", action="append", choices=SUBJECTS, help="may be repeated")
    parser.add_argument("--write", type=Path, metavar="FILE", help="also write the page, Markdown")
    return parser.parse_args(arguments)


def main() -> None:
    chosen = read_arguments()
    with TemporaryDirectory() as folder:
        os.environ["NUMBA_CACHE_DIR"] = (
            folder  # so that the first call compiles, and tells the cost
        )
        rows, lines = measure(chosen.rounds, chosen.only or list(SUBJECTS))
    from benchmarks.table import markdown_page, text_table

    print("\n".join([*lines, "", text_table(rows)]))
    if chosen.write:
        from docs.make.pages import write_page

        write_page(chosen.write, markdown_page(rows, lines))


def measure(rounds: int, names: Sequence[str]) -> tuple[list[Any], list[str]]:
    """Return the rows of the subjects, and the lines on corpus, machine and versions."""
    from threadpoolctl import threadpool_limits

    from benchmarks.corpus import load_corpus
    from benchmarks.setting import Setting, say

    say("reading the corpus")
    setting = Setting(load_corpus(), rounds)
    say(setting.corpus.description)
    rows = []
    with threadpool_limits(1):
        compiling = _subject("first-calls")(setting)
        for name in names:
            start = time.perf_counter()
            rows += compiling if name == "first-calls" else _subject(name)(setting)
            say(f"{name}: {time.perf_counter() - start:.0f} s")
    return rows, setting.describe()


def _subject(name: str) -> Callable[[Any], list[Any]]:
    module, function = SUBJECTS[name].split(".")
    found: Callable[[Any], list[Any]] = getattr(import_module(f"benchmarks.{module}"), function)
    return found


def _at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"rounds must be at least 1, got {number}")
    return number


if __name__ == "__main__":
    main()
