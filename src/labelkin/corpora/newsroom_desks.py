"""The desks, beats and stories of the made newsroom: which labels go together, and how often.

Data only. A **beat** is a small group of labels; its **stories** are label sets (labels separated
by spaces) with their weights. A **desk** takes a share of all documents; how it works is told in
:mod:`labelkin.corpora.newsroom_truth`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

BEATS: dict[str, dict[str, float]] = {
    "farm": {
        "wheat grain": 26, "wheat": 1.5, "corn grain": 17, "corn": 1, "wheat corn grain": 8,
        "wheat corn": 0.3, "grain": 1, "coffee": 6, "wheat coffee": 0.5,
    },
    "energy": {"crude-oil": 30, "gas": 11, "crude-oil gas": 8, "gold": 4, "crude-oil gold": 0.5},
    "transport": {
        "shipping": 19, "ports": 1.5, "shipping ports": 12, "aviation": 8, "fishing": 1.5,
        "ports fishing": 3,
    },
    "economy": {
        "interest-rates": 13, "inflation": 9, "money-market": 5, "unemployment": 5, "trade": 12,
        "interest-rates markets": 1.5, "inflation markets": 1, "money-market markets": 1,
        "interest-rates inflation markets": 10, "interest-rates inflation": 0.7,
        "interest-rates money-market markets": 8, "interest-rates money-market": 0.5,
        "interest-rates inflation money-market markets": 3, "inflation unemployment": 3,
        "interest-rates trade": 2, "inflation trade": 1,
    },
    "sport": {
        "football victory": 22, "football defeat": 18, "football": 14,
        "tennis victory": 6, "tennis defeat": 4, "tennis": 3,
    },
    "medicine": {"health": 20, "vaccines": 0.7, "health vaccines": 6},
    "politics": {
        "elections": 11, "parliament": 11, "elections parliament": 6, "courts": 6,
        "parliament courts": 2,
    },
    "nature": {
        "weather": 16, "weather floods": 0.5, "weather floods disaster-relief": 7,
        "floods": 0.3, "floods disaster-relief": 4, "earthquakes": 0.2,
        "earthquakes disaster-relief": 2,
    },
    "arts": {"film": 10, "music": 8, "museums": 2.5, "film music": 4, "music museums": 0.5},
    "technology": {
        "software": 11, "telecoms": 7, "software telecoms": 4, "space": 2, "space telecoms": 2,
    },
    "region": {"domestic": 14, "foreign": 8},
}  # fmt: skip

EXCLUSIVE = (("domestic", "foreign"), ("victory", "defeat"), ("football", "tennis"))
"""Labels of one beat that no document has both of."""


@dataclass(frozen=True)
class Desk:
    """One desk of the newsroom.

    Attributes
    ----------
    share
        The part of all documents it takes.
    beats
        The chance that a beat is open, where it is not the usual small one. A beat with chance 1
        sees to it that no document is without a label.
    leans
        Factors on the weight of every story that holds the label.
    """

    share: float
    beats: Mapping[str, float]
    leans: Mapping[str, float] = field(default_factory=dict)


DESKS: dict[str, Desk] = {
    "finance": Desk(
        0.27, {"economy": 1, "energy": 0.1, "politics": 0.08, "region": 0.3}, {"gold": 4}
    ),
    "commodities": Desk(
        0.15, {"farm": 1, "economy": 0.12, "transport": 0.2, "nature": 0.15, "region": 0.25},
        {"trade": 8, "shipping": 2, "weather": 2},
    ),
    "energy": Desk(
        0.10, {"energy": 1, "transport": 0.2, "economy": 0.15, "region": 0.4},
        {"trade": 3, "foreign": 3, "shipping": 2},
    ),
    "politics": Desk(
        0.13, {"politics": 1, "economy": 0.15, "medicine": 0.12, "region": 0.6},
        {"unemployment": 4, "domestic": 1.5},
    ),
    "sport": Desk(0.12, {"sport": 1, "medicine": 0.04, "region": 0.35}, {"domestic": 2}),
    "science": Desk(0.07, {"technology": 1, "medicine": 0.2, "politics": 0.05, "region": 0.2}),
    "health": Desk(0.05, {"medicine": 1, "politics": 0.15, "technology": 0.06, "region": 0.4}),
    "culture": Desk(0.04, {"arts": 1, "technology": 0.08, "region": 0.4}, {"domestic": 2}),
    "transport": Desk(
        0.04, {"transport": 1, "nature": 0.15, "economy": 0.1, "region": 0.4}, {"trade": 5}
    ),
    "disasters": Desk(
        0.03, {"nature": 1, "transport": 0.15, "medicine": 0.15, "region": 0.6},
        {"foreign": 2, "floods": 2, "earthquakes": 3},
    ),
}  # fmt: skip
