"""``labelkin train --content omikuji``, and commands that load its model files on request."""

import json
import os
import subprocess
import sys

import pytest

from labelkin.corpora import newsroom

TEXT = "Wheat exports rose after the harvest."


def labelkin(*arguments):
    command = [sys.executable, "-c", "from labelkin.cli import main; main()", *arguments]
    return subprocess.run(
        list(map(str, command)),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder, news = tmp_path_factory.mktemp("model"), newsroom(420)
    rows = zip(news.documents, news.label_sets(), strict=True)
    lines = [json.dumps({"text": text, "labels": list(labels)}) for text, labels in rows]
    (folder / "news.jsonl").write_text("\n".join(lines))
    path = folder / "trees.labelkin"
    done = labelkin(
        *("train", folder / "news.jsonl", "-o", path, "--content", "omikuji", "--top", 20, "-q")
    )
    assert done.returncode == 0, done.stderr
    return path


def test_suggestion_of_a_trusted_model(model):
    done = labelkin("suggest", model, TEXT)
    assert (done.returncode, "--trusted omikuji" in done.stderr) == (2, True)
    found = json.loads(labelkin("suggest", model, TEXT, "--trusted", "omikuji", "--json").stdout)
    assert found["suggestions"][0]["label"] in ("grain", "wheat", "trade")
