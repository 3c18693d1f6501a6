"""Changed model files with valid checksums: an error or a model, in linear time and memory.

The limits of a load are also stated in SECURITY.md.
"""

# ruff: noqa: B023 - drawn values are used at once
import json
import os
import random
import signal
import sys
import time
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from labelkin import LabelDependenceClassifier, LabelRescorer, NaiveBayes, NearestNeighbours
from labelkin.storage import load, read_header, save
from labelkin.storage.codec import FORMS
from labelkin.storage.trusted import PLACES, TYPES
from labelkin.text import TermWeights, WordCounts
from labelkin.vocabulary.rules import Rules

sys.path.insert(0, str(Path(__file__).parent.parent / "storage"))
from forged_files import join_file, split_file

#: CPU seconds and bytes of memory of a load: a constant, and a limit per byte of the file.
SECONDS, SECONDS_A_BYTE = 0.5, 1e-5
MEMORY, MEMORY_A_BYTE = 2_000_000, 60
#: Size of a changed file, and of every hundredth.
SMALL, LARGEST = 100_000, 5_000_000
#: Values in a file, from which on nothing more is changed in it.
MOST_PLACES = 10_000
TEXTS = ["sea sea gulls", "sea town", "town", "gulls", "harbour town", "sea harbour"]
SETS = [["sea"], ["sea", "town"], ["town"], [], ["town"], ["sea"]]
SIGNS = [0, -1, 1, 2**31, 2**63 - 1, -(2**63), 1e308, -0.0, True, None, "", "a", "\ud800", [], {}]


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    folder = tmp_path_factory.mktemp("honest")
    models = [
        LabelRescorer(rules=Rules(implies=[("town", "sea")], exclusive=[("x", "y")])),
        make_pipeline(
            WordCounts(min_documents=1),
            TermWeights(),
            LabelDependenceClassifier(NaiveBayes(), evidence_weight=1),
        ),
        make_pipeline(TfidfVectorizer(), NearestNeighbours(2)),
    ]
    rescorer = models[0].fit([[*labels, "x"] for labels in SETS[:3]] + [["y"]])
    fitted = [rescorer, *(model.fit(TEXTS, SETS) for model in models[1:])]
    whole = [split_file(save(model, folder / str(i))) for i, model in enumerate(fitted)]
    return [parts._replace(model=json.dumps(parts.model)) for parts in whole]


def places(value, found):
    """List every place in JSON: container and key."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in pairs:
        found.append((value, key))
        if isinstance(item, dict | list):
            places(item, found)
    return found


def changed(honest, draw):
    """Change a few places to other values of the format."""
    about, written, data = honest
    model = json.loads(written)  # many times as fast as a deep copy
    for _ in range(draw.choice((1, 1, 2, 5))):
        found = places(model, [])
        if len(found) > MOST_PLACES:  # repeated copies
            break
        container, key = draw.choice(found)
        old = container[key]
        other_container, other_key = draw.choice(found)
        new = draw.choice(
            (
                lambda: draw.choice(SIGNS),
                lambda: json.loads(json.dumps(other_container[other_key])),
                lambda: {"array": draw.randrange(40)},
                lambda: {draw.choice([*FORMS]): old},
                lambda: {draw.choice([*FORMS]): [old] * draw.choice((0, 1, 2, 3, 5))},
                lambda: {"dict": [[old], [old]]},
                lambda: [old] * draw.randrange(50),
                lambda: [draw.choice([*PLACES, *TYPES]), old],
                lambda: draw.choice([*PLACES, *TYPES]),
                lambda: {"scalar": [draw.choice(("<f8", "<U9", "|b1", "<i4")), "00" * 8]},
                lambda: draw.getrandbits(draw.choice((8, 64, 5000))),
                lambda: nested(draw, old),
            )
        )()
        container[key] = new
    if draw.random() < 0.1:
        data = data[: draw.randrange(len(data) + 1) // 64 * 64]
    return about, model, data


def nested(draw, value):
    for _ in range(draw.choice((3, 99, 101, 300))):
        value = {draw.choice(("tuple", "set", "frozenset")): [value, value][: draw.choice((1, 2))]}
        if len(json.dumps(value)) > 20_000:
            break
    return value


def forged(honest, draw, folder, largest):
    """Write a changed file of limited size."""
    while True:
        try:
            path = join_file(folder / "forged", *changed(draw.choice(honest), draw))
        except (ValueError, RecursionError):  # it cannot be written
            continue
        if path.stat().st_size <= largest:
            return path


class HangsError(Exception):
    """A load that does not end."""


def stop(*_):
    raise HangsError


def test_changed_file_is_an_error_or_a_model_in_linear_time(honest, tmp_path, long_proofs):
    n_cases, outcomes = (10_000 if long_proofs else 250), {"model": 0, "error": 0}
    seed = int(os.environ.get("LABELKIN_FUZZ_SEED", "0"))
    signal.signal(signal.SIGPROF, stop)
    worst_seconds = worst_rate = worst_memory = 0.0
    for case in range(n_cases):
        draw = random.Random(seed * 10**9 + case)
        path = forged(honest, draw, tmp_path, LARGEST if case % 100 == 0 else SMALL)
        size = path.stat().st_size
        with_memory = case % 10 == 0
        if with_memory:
            tracemalloc.start()
        allowed = SECONDS + SECONDS_A_BYTE * size
        signal.setitimer(signal.ITIMER_PROF, 10 * allowed)  # of CPU time: machines are shared
        start = time.process_time()
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                read_header(path)
                load(path)
            outcomes["model"] += 1
        except ValueError:
            outcomes["error"] += 1
        except BaseException as error:
            raise AssertionError(f"case {case}: {type(error).__name__}: {error}") from error
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            seconds = time.process_time() - start
            peak = tracemalloc.get_traced_memory()[1] if with_memory else 0
            tracemalloc.stop()
        if not with_memory:
            assert seconds < allowed, f"case {case}: {seconds} s for {size} bytes"
            worst_seconds = max(worst_seconds, seconds)
            worst_rate = max(worst_rate, (seconds - 0.02) / size)
        assert peak < MEMORY + MEMORY_A_BYTE * size, f"case {case}: {peak} of {size}"
        worst_memory = max(worst_memory, peak / size)
    print(
        f"{n_cases} files: {outcomes}, at most {worst_seconds:.3f} s, "
        f"{1e6 * worst_rate:.2f} µs/byte beyond 20 ms, {worst_memory:.0f} bytes/byte"
    )
    assert min(outcomes.values()) > n_cases / 100, "both must occur"
