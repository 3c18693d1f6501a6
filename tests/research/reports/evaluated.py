"""Systems judged without an experiment, and how tests look into outcomes."""

from labelkin.research.reports.results import evaluate_system


def evaluate_all(content, additions, Y):
    """Judge content evidence, by the name of its classifier, alone and with each addition."""
    for name, log_odds in content.items():
        alone = evaluate_system(Y, log_odds, content=name)
        yield alone
        for addition, rescorer in additions.items():
            rescored = rescorer.rescore(log_odds)
            yield evaluate_system(Y, rescored, content=name, addition=addition, alone=alone)


def find(outcome, system, metric):
    """Return the mean over the seeds of one system by one metric."""
    return next(s for s in outcome.scores if (s.system, s.metric, s.rule) == (system, metric, ""))


def system_of(outcome, name):
    """Return one system of the first seed."""
    return next(s for s in outcome.systems if s.name == name and not s.rule)
