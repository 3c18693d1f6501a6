"""Model files with an Omikuji forest: read on request, sound or damaged."""

import tempfile

import numpy as np
import pytest

from labelkin import LabelDependenceClassifier, load, save
from labelkin_omikuji import OmikujiContent, OmikujiForest
from labelkin_omikuji import forest as omikuji_forest

TRUST = ["omikuji"]
rng = np.random.default_rng(0)
Y = (rng.random((90, 5)) < 0.3).astype(int)
X = rng.poisson(0.3 + 2 * np.repeat(Y, 3, axis=1)).astype(float)


@pytest.fixture(scope="module")
def fitted():
    return OmikujiContent(n_trees=2, cv=2).fit(X, Y)


def forged(fitted, **changes):
    """A model with another forest."""
    old = fitted.forest_
    fields = {name: getattr(old, name) for name in ("files", "n_features", "n_labels")} | changes
    model = OmikujiContent(n_trees=2, cv=2)
    vars(model).update(vars(fitted) | {"forest_": OmikujiForest(**fields)})
    return model


def of(text):
    return np.frombuffer(text, dtype=np.uint8)


@pytest.mark.parametrize("top", [None, 3])
def test_saved_model_returns_the_same_scores(tmp_path, top):
    model = LabelDependenceClassifier(OmikujiContent(top=top), random_state=0).fit(X, Y)
    again = load(save(model, tmp_path / "m.labelkin"), trusted=TRUST)
    expected, found = model.log_odds(X), again.log_odds(X)
    assert abs(expected - found).max() == 0


def test_model_is_loaded_only_if_trusted_names_it(fitted, tmp_path):
    path = save(fitted, tmp_path / "m.labelkin")
    with pytest.raises(ValueError, match=r"asked for by name.*trusted=\['omikuji'\]"):
        load(path)
    with pytest.raises(ValueError, match="trusted must be one of 'omikuji', got 'pickle'"):
        load(path, trusted=["pickle"])
    assert load(path, trusted="omikuji").n_trees == 2


def test_unpacked_folder_is_private_and_removed(fitted, tmp_path, monkeypatch):
    path, place = save(fitted, tmp_path / "m.labelkin"), tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    seen = []
    read = omikuji_forest._read

    def looking(folder):
        seen.append((folder.parent.stat().st_mode & 0o777, {f.name for f in folder.iterdir()}))
        return read(folder)

    monkeypatch.setattr(omikuji_forest, "_read", looking)
    model = load(path, trusted=TRUST)
    assert not seen  # before the first prediction
    model.log_odds(X[:1])
    assert seen == [(0o700, {"settings.json", "tree0.cbor", "tree1.cbor"})]
    assert list(place.iterdir()) == []


class TestForgedFolders:
    @pytest.mark.parametrize(
        "name", ["../evil", "/etc/evil", "tree0.cbor/../../evil", "tree00.cbor"]
    )
    def test_files_with_other_names_are_an_error(self, fitted, tmp_path, name):
        model = forged(fitted, files={**fitted.forest_.files, name: of(b"evil")})
        with pytest.raises(ValueError, match="with other files than its settings and trees"):
            save(model, tmp_path / "m.labelkin")
        with pytest.raises(ValueError, match="with other files than its settings and trees"):
            model.log_odds(X[:1])

    @pytest.mark.parametrize(
        ("changes", "why"),
        [
            ({"n_labels": 0}, "without features or labels"),
            ({"files": {"settings.json": of(b"{}")}}, "other files than its settings and trees"),
            ({"files": {"settings.json": np.zeros(3)}}, "files are not bytes"),
        ],
    )
    def test_invalid_forest_is_an_error(self, fitted, changes, why):
        with pytest.raises(ValueError, match=why):
            forged(fitted, **changes).log_odds(X[:1])

    def test_further_attributes_are_an_error(self, fitted, tmp_path):
        model = forged(fitted)
        vars(model.forest_)["_model_"] = {"predict": 1}
        with pytest.raises(ValueError, match="other fields than"):
            save(model, tmp_path / "m.labelkin")

    def test_a_forest_of_other_labels(self, fitted, tmp_path):
        with pytest.raises(ValueError, match="of other features or labels"):
            save(forged(fitted, n_labels=4), tmp_path / "m.labelkin")

    @pytest.mark.parametrize(
        "content",
        [b"", b"\xff" * 100, b"\x9b" + b"\xff" * 8, b"\x81" * 100_000],
        ids=["nothing", "ends", "a list without end", "lists in lists"],
    )
    def test_damaged_tree_is_an_error(self, fitted, tmp_path, content):
        model = forged(fitted, files={**fitted.forest_.files, "tree1.cbor": of(content)})
        again = load(save(model, tmp_path / "m.labelkin"), trusted=TRUST)
        with pytest.raises(ValueError, match="damaged or forged"):
            again.log_odds(X[:1])

    def test_endless_reading_is_stopped(self, fitted, monkeypatch):
        monkeypatch.setattr(omikuji_forest, "_TRY", "import time; time.sleep(60)")
        monkeypatch.setattr(omikuji_forest, "_SECONDS", 0.5)
        with pytest.raises(ValueError, match="It took more than"):
            forged(fitted).log_odds(X[:1])
