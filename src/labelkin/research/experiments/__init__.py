"""Experiments: a TOML file names corpora and systems; their runs are stored and resumed.

>>> experiment = parse_experiment('''
... name = "small"
... corpus = {name = "newsroom", options = {n_documents = 200}}
... content.NB = {classifier = "naive_bayes"}
... labels.BLR = {classifier = "logistic"}
... ''')
>>> from tempfile import TemporaryDirectory
>>> with TemporaryDirectory() as folder:
...     results = run_experiment(experiment, folder)
...     print([run.system for run in results.runs], results.runs[0].log_odds().shape)
['NB', 'NB+BLR+M1', 'NB+BLR+M2'] (67, 38)
"""

from labelkin.research.experiments.configuration import (
    find_experiment,
    new_experiment,
    parse_experiment,
    read_experiment,
    shipped_experiments,
)
from labelkin.research.experiments.plan import Experiment, Run
from labelkin.research.experiments.runs import (
    CorpusResults,
    DamagedRun,
    Results,
    read_results,
    run_experiment,
)

__all__ = [
    "CorpusResults",
    "DamagedRun",
    "Experiment",
    "Results",
    "Run",
    "find_experiment",
    "new_experiment",
    "parse_experiment",
    "read_experiment",
    "read_results",
    "run_experiment",
    "shipped_experiments",
]
