"""A small outcome with label names that would break a careless page."""

import numpy as np
import pytest
from evaluated import evaluate_all

from labelkin.label_matrix import read_labels
from labelkin.method.label_evidence import LogisticLabels
from labelkin.models.rescorer import LabelRescorer
from labelkin.research.reports.results import Outcome

NAMES = ["<b>&", "a|b", 'say "hi"', "cost in $ and $", "two\nlines", "url(#x) #1a5fb4"]


@pytest.fixture(scope="session")
def toy():
    """Label sets, the content evidence of two classifiers, and the fitted additions."""
    rng = np.random.default_rng(5)
    topic = rng.random((90, 1)) < 0.5
    Y = (rng.random((90, 6)) < np.where(topic, [0.8, 0.7, 0.6, 0.1, 0.1, 0.2], 0.25)).astype(int)
    content = {
        "NB": 2.0 * (2 * Y - 1) + rng.normal(0, 3.5, Y.shape),
        "kNN": 1.0 * (2 * Y - 1) + rng.normal(0, 1.5, Y.shape),
    }
    labels = read_labels(Y, names=NAMES)
    additions = {
        "BLR+M1": LabelRescorer(
            LogisticLabels(), variant="hard", evidence_weight=1, scale="log_odds"
        ).fit(labels),
        "BLR+M2": LabelRescorer(
            LogisticLabels(), variant="soft", evidence_weight=1, scale="log_odds"
        ).fit(labels),
    }
    return labels, content, additions


@pytest.fixture(scope="session")
def outcome(toy):
    labels, content, additions = toy
    systems = list(evaluate_all(content, additions, labels))
    facts = {"<i>": "</main>"}
    return Outcome("toy", "toy", systems, labels=labels, truth=labels, facts=facts)
