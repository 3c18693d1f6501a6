"""Attacks on files, streams and the service as a stranger would try them; whole at full size."""

import gzip
import json
import os
import socket
import stat
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread

import httpx
import numpy as np
import pytest
from live_server import server_process
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline

from labelkin import (
    LabelDependenceClassifier,
    NaiveBayes,
    PerLabel,
    PlattSVM,
    cli,
    corpora,
    storage,
)
from labelkin.curation.saved_work import Entry, SavedWork
from labelkin.text import WordCounts

pytestmark = pytest.mark.xdist_group("service")
RUN = "import sys; from labelkin.cli import main; main(sys.argv[1:])"
FORM = "Content-Type: application/x-www-form-urlencoded\r\n"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    news = corpora.newsroom(200)
    made = make_pipeline(WordCounts(), LabelDependenceClassifier(NaiveBayes(), evidence_weight=1))
    made.fit(news.documents, news.label_sets())
    return storage.save(made, tmp_path_factory.mktemp("models") / "news.labelkin")


def run(*arguments, most_memory=None, **options):
    """Start the command in a process of its own."""
    bound = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({most_memory},) * 2); "
    return subprocess.Popen(
        [sys.executable, "-c", bound * bool(most_memory) + RUN, *map(str, arguments)],
        stderr=subprocess.PIPE,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        **options,
    )


def one_line(process):
    """Wait for the end of a command that fails; return the line it prints."""
    said = process.communicate(timeout=600)[1].decode()
    assert process.returncode in (1, 2)
    assert len(said.splitlines()) == 1, said[:2000]
    return said


def resident(server):
    """Return how many bytes of memory a server has."""
    return 4096 * int(Path(f"/proc/{server.process.pid}/statm").read_text().split()[1])


class TestFiles:
    @pytest.fixture
    def device(self, tmp_path):
        """A device on which nothing has room."""
        path = tmp_path / "full"
        try:
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 7))
            path.open("wb").close()
        except OSError:
            pytest.skip("devices cannot be made here")
        return path

    def test_a_device_stays_a_device(self, device, model, tmp_path, capsys):
        (tmp_path / "link").symlink_to(device)
        for target in (device, tmp_path / "link"):
            with pytest.raises(FileExistsError, match="is a device or pipe"):
                storage.save(storage.load(model), target)
            with pytest.raises(SystemExit, match="2"):
                cli.main(["train", "newsroom", "-o", str(target)])
            assert "is a device or pipe" in capsys.readouterr().err
        assert stat.S_ISCHR(device.stat().st_mode)

    def test_a_line_without_end_in_a_small_file_is_one_line_of_error(
        self, model, tmp_path, long_proofs
    ):
        """A hundred kilobytes that are a hundred megabytes, in bounded memory."""
        path, n_megabytes = tmp_path / "bomb.txt.gz", 2_000 if long_proofs else 101
        with gzip.open(path, "wb", 1) as file:
            for _ in range(n_megabytes):
                file.write(b"a" * 10**6)
        said = one_line(run("predict", model, path, most_memory=4 * 2**30))
        assert "bomb.txt.gz, line 1: a line may have 100,000,000 characters" in said

    @pytest.mark.long
    def test_input_without_end_is_one_line_of_error(self, model, long_proofs):
        if not long_proofs:
            pytest.skip("as the one before, over a pipe")
        process = run("predict", model, "-", stdin=subprocess.PIPE, most_memory=4 * 2**30)

        def feed():
            with suppress(OSError, ValueError):
                while True:
                    process.stdin.write(b"x" * 2**20)

        feeding = Thread(target=feed, daemon=True)
        feeding.start()
        said = process.stderr.read().decode()
        assert process.wait(timeout=600) in (1, 2)
        assert len(said.splitlines()) == 1, said[:2000]
        assert "a line may have 100,000,000 characters" in said

    def test_what_came_is_cut_in_a_message(self, model, tmp_path, capsys):
        path = tmp_path / "long.jsonl"
        path.write_text(json.dumps({"id": ["x" * 1_000_000], "text": ""}))
        with pytest.raises(SystemExit, match="2"):
            cli.main(["predict", str(model), str(path)])
        said = capsys.readouterr().err
        assert "long.jsonl, line 1: 'id' must be" in said
        assert len(said) < 3_000

    def test_two_who_go_on_with_one_file_do_not_mix(self, model, tmp_path, long_proofs):
        texts, out = tmp_path / "texts.txt", tmp_path / "out.jsonl"
        n_texts = 12_000 if long_proofs else 600
        texts.write_text("".join(f"gas and oil {i}\n" for i in range(n_texts)))
        command = ("predict", model, texts, "-o", out, "--resume", "--batch", "50", "-q")
        both = [run(*command) for _ in range(2)]
        said = [one.communicate(timeout=600)[1] for one in both]
        assert sorted(one.returncode for one in both) in ([0, 2], [0, 0]), said  # or one after one
        assert [json.loads(line)["id"] for line in out.open()] == list(range(1, n_texts + 1))
        for one, line in zip(both, said, strict=True):
            if one.returncode:
                assert b"is being written by another" in line


@pytest.mark.parametrize(
    "content",
    [
        None,
        LogisticRegression(),
        PlattSVM(),
        PerLabel(LogisticRegression()),
        PerLabel(SGDClassifier(loss="log_loss")),
        [NaiveBayes(), PerLabel(SGDClassifier(loss="log_loss"))],
    ],
    ids=["default", "scikit-learn", "svm", "per label", "stochastic", "ensemble"],
)
def test_a_seed_makes_the_answers_the_same_whatever_the_content(content):
    random = np.random.default_rng(0)
    X = random.random((60, 6))
    Y = (X[:, :3] + 0.8 * random.random((60, 3)) > 0.9).astype(int)
    first, second = (
        LabelDependenceClassifier(content, random_state=0).fit(X, Y).predict_proba(X)
        for _ in range(2)
    )
    assert (first == second).all()


@pytest.fixture(scope="module")
def server(model, tmp_path_factory):
    saved_work = tmp_path_factory.mktemp("served") / "saved.sqlite"
    with server_process(model, saved_work) as server:
        yield server


def connect(server, text):
    place = httpx.URL(server.address)
    connection = socket.create_connection((place.host, place.port), timeout=60)
    connection.sendall(text.encode())
    return connection


class TestService:
    def test_bodies_on_their_way_have_a_bounded_size(self, server, long_proofs):
        n_bodies, size = (60, 8_000_000) if long_proofs else (20, 8_000_000)
        head = "POST /v1/projects/news/suggest HTTP/1.1\r\nHost: localhost\r\n"
        before, begun = resident(server), []
        for _ in range(n_bodies):
            connection = connect(server, f"{head}{FORM}Content-Length: 8388608\r\n\r\n")
            begun.append(connection)
            with suppress(OSError):  # there is no room for it
                connection.sendall(b"x" * size)
        assert resident(server) - before < 300_000_000
        for connection in begun:
            connection.close()
        assert httpx.get(f"{server.address}health", timeout=60).status_code == 200

    def test_labels_that_are_made_up_do_not_fill_the_memory(self, server, long_proofs):
        before = resident(server)
        for i in range(100 if long_proofs else 8):
            made_up = [f"{i} {j} ".ljust(1_000, "x") for j in range(1_000)]
            request = {"text": "gas", "accepted": made_up}
            answer = httpx.post(
                f"{server.address}api/models/news/documents", json=request, timeout=60
            )
            assert answer.status_code == 201
        assert resident(server) - before < 100_000_000


def test_many_saved_entries_are_read_in_little_time(model, tmp_path, long_proofs):
    """A hundred thousand entries take three seconds of the processor, texts never in memory."""
    from labelkin.service import create_app

    n_entries, random = 100_000 if long_proofs else 5_000, np.random.default_rng(0)
    labels = [str(label) for label in storage.read_header(model).labels]
    saved_work, path = SavedWork(tmp_path / "j.sqlite"), tmp_path / "j.sqlite"
    for begin in range(0, n_entries, 1_000):
        sets = [random.choice(labels, 3, replace=False).tolist() for _ in range(1_000)]
        saved_work.save(
            [
                Entry("news", f"{begin + i} {'gas and oil ' * 20}", tuple(one))
                for i, one in enumerate(sets)
            ]
        )
    saved_work.close()
    create_app([model], saved_work=tmp_path / "other.sqlite").state.service.close()  # imports
    start = time.process_time()
    service = create_app([model], saved_work=path).state.service
    seconds = time.process_time() - start
    assert [one.snapshot.learned for one in service.models.values()] == [n_entries]
    service.close()
    print(f"{n_entries} entries: {seconds:.2f} s")
    assert seconds < 0.5 + 3 * n_entries / 100_000
