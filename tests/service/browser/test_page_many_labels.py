"""A model of thousands of labels: any of them is found, added, and drawn with its neighbours."""

import numpy as np
import pytest
from live_server import server_process
from page_reader import labels, write
from sklearn.pipeline import make_pipeline

from labelkin import LabelDependenceClassifier, NearestNeighbours, storage
from labelkin.text import TermWeights, WordCounts

pytestmark = pytest.mark.xdist_group("browser")
N_LABELS, N_DOCUMENTS, TOPIC = 1_000, 2_000, 4


def name(j):
    return f"subject {j:04d} of series {j // TOPIC:04d}"


def word(j):
    """Return a word for a label; words of a text have no digits."""
    return "word" + f"{j:04d}".translate(str.maketrans("0123456789", "abcdefghij"))


@pytest.fixture(scope="module")
def many_file(tmp_path_factory):
    """Four labels of a series occur together, and every label has its word."""
    rng = np.random.default_rng(0)
    first = np.concatenate([np.arange(N_LABELS), rng.integers(0, N_LABELS, N_DOCUMENTS - N_LABELS)])
    second = first // TOPIC * TOPIC + rng.integers(0, TOPIC, N_DOCUMENTS)
    sets = [sorted({name(j), name(k)}) for j, k in zip(first, second, strict=True)]
    texts = [
        f"{word(j)} {word(j)} {word(k)} filler{word(rng.integers(50))}"
        for j, k in zip(first, second, strict=True)
    ]
    classifier = LabelDependenceClassifier(NearestNeighbours(top=20), evidence_weight=0.5)
    steps = [WordCounts(stem=False, min_documents=1), TermWeights("tfidf"), classifier]
    path = tmp_path_factory.mktemp("models") / "many.labelkin"
    return storage.save(make_pipeline(*steps).fit(texts, sets), path)


@pytest.fixture(scope="module")
def server(many_file, tmp_path_factory):
    saved_work = tmp_path_factory.mktemp("browser") / "saved.sqlite"
    with server_process(many_file, saved_work) as process:
        yield process


def test_any_of_thousands_of_labels_is_found_and_added(page):
    write(page, f"{word(12)} {word(13)}")
    assert name(12) in labels(page)[:4]
    page.click("#search")
    page.get_by_text("and 980 more labels").wait_for()
    assert page.locator("#search-results [role=option]").count() == 20
    page.fill("#search", "SUBJECT 0971")
    page.keyboard.press("Enter")
    page.locator("#accepted .chip-name", has_text=name(971)).wait_for()
    assert name(12) in labels(page)  # it is no candidate of the text, and the text keeps its own
