"""The service agrees with its OpenAPI description."""

import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from issue_list import write_issues
from live_server import serving

pytestmark = pytest.mark.xdist_group("service")
_LABELS = "a label that the model does not have, or one both accepted and rejected"
_LANGUAGE = "a language that the labels of the model have no names in"
_ISSUE = "a number beyond the last issue of the list"
#: Reasons for rejecting requests that fit the description, by route and status.
MEANT = {
    ("/api/models/{model_id}/suggest", "422"): _LABELS,
    ("/api/models/{model_id}/explain", "422"): _LABELS,
    ("/api/models/{model_id}/documents", "422"): _LABELS,
    ("/api/models/{model_id}/related", "422"): _LABELS,
    ("/api/models/{model_id}/graph", "422"): _LABELS,
    ("/v1/projects/{model_id}/suggest", "422"): _LANGUAGE,
    ("/v1/projects/{model_id}/suggest-batch", "422"): _LANGUAGE,
    ("/v1/projects/{model_id}/learn", "422"): "a subject without a name",
    ("/api/review/answers", "404"): _ISSUE,
    ("/api/review/issues/{number}", "404"): _ISSUE,
}
#: Real names, so that requests are valid.
CONFIGURATION = """
[parameters]
"path.model_id" = "news"

"query.label" = "gas"
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "404", "422"]
"""


@pytest.fixture(scope="module")
def address(news_file, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz")
    issues = write_issues(folder)
    with serving(news_file, saved_work=folder / "saved.sqlite", review=issues) as client:
        yield client.address


def n_cases(address, folder, *options):
    """Have schemathesis try the service; return how many requests it made up."""
    program = Path(sys.executable).with_name("schemathesis")
    (folder / "schemathesis.toml").write_text(CONFIGURATION)
    done = subprocess.run(
        [program, "--config-file", "schemathesis.toml", "run", f"{address}openapi.json",
         "--no-color", "--warnings", "off", "--generation-deterministic", *options],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-10_000:] + done.stderr[-2_000:]
    return int(re.search(r"(\d+) generated", done.stdout)[1])


@pytest.mark.long
def test_responses_agree_with_the_openapi_description(address, tmp_path, long_proofs):
    pytest.importorskip("schemathesis", "4", reason="a test dependency, whose options these are")
    if long_proofs:
        phases = ["--phases", "coverage,fuzzing,stateful", "--max-examples", "160"]
    else:
        phases = ["--phases", "coverage"]
    n_tried = n_cases(address, tmp_path, *phases)
    counted = httpx.get(f"{address}metrics").text
    answers = re.findall(
        r'labelkin_requests_total\{.*route="(.*)",status="(4\d\d)"\} (\S+)', counted
    )
    print(f"{n_tried} requests; not as asked: {sorted(answers)}")
    assert n_tried >= (3_000 if long_proofs else 300)
    turned_away = {(route, status) for route, status, _ in answers if status in ("404", "422")}
    assert turned_away - {("none", "404")} <= set(MEANT)
    assert not re.search(r'labelkin_requests_total\{.*status="5', counted)
    assert 'route="/api/models/{model_id}/suggest",status="200"' in counted
