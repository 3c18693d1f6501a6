"""How results were made, in words: corpus, classifiers, seeds, versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from labelkin.experiment import CorpusResults, PlannedRun

_OF_CORPUS = {
    "source": "Source",
    "licence": "Licence",
    "n_train": "Training documents",
    "n_test": "Test documents",
    "n_labels": "Labels",
    "n_features": "Features",
}
_WEIGHTS = {
    "tfidf": "tf-idf",
    "as_is": "the features as they are",
    "standardised": "standardised features",
}


def tell_facts(planned: Sequence[PlannedRun], results: CorpusResults | None) -> dict[str, str]:
    """Return by name how the runs on one corpus were made."""
    seeds = dict.fromkeys(str(plan.seed) for plan in planned)
    words = planned[0].configuration["words"]
    return {
        "Corpus": planned[0].corpus,
        **_tell_results(results),
        **({"Words": _settings(words)} if words else {}),
        "Seeds" if len(seeds) > 1 else "Seed": ", ".join(seeds),
        **_tell_versions(results),
    }


def tell_classifiers(planned: Sequence[PlannedRun]) -> dict[str, str]:
    """Return by name what each content classifier and each label classifier is."""
    contents = [plan.configuration["content"] for plan in planned]
    additions = [plan.configuration["addition"] for plan in planned]
    labels = [addition["labels"] for addition in additions if addition]
    return {
        **{content["name"]: _content(content) for content in contents},
        **{choice["name"]: _classifier(choice) for choice in labels},
    }


def _tell_results(results: CorpusResults | None) -> dict[str, str]:
    if results is None:
        return {}
    return {
        name: f"{results.facts[key]:,}"
        if isinstance(results.facts[key], int)
        else results.facts[key]
        for key, name in _OF_CORPUS.items()
        if results.facts.get(key)
    }


def _tell_versions(results: CorpusResults | None) -> dict[str, str]:
    """Tell the versions of all runs: two of one package where it changed in between."""
    runs = results.runs if results else ()
    versions = dict.fromkeys(f"{name} {v}" for run in runs for name, v in run.versions.items())
    return {"Made with": ", ".join(versions)} if versions else {}


def _content(content: Mapping[str, Any]) -> str:
    terms = f", terms chosen by {_settings(content['terms'])}" if content["terms"] else ""
    weights = _WEIGHTS.get(content["weights"], content["weights"])
    return f"{_classifier(content)} on {weights}{terms}"


def _classifier(choice: Mapping[str, Any]) -> str:
    parameters = _settings(choice["parameters"])
    return f"{choice['classifier']} ({parameters})" if parameters else str(choice["classifier"])


def _settings(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())
