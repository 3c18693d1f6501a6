"""Two worker processes on this machine, for all tests here; and how one of them dies."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason='a cluster needs Dask: pip install "labelkin[dask]"')

sys.path.insert(0, str(Path(__file__).parent.parent / "cli"))  # in_process: the command's caller

#: Seconds within which something that must happen happens, on a busy machine.
PATIENCE = 120


def pytest_collection_modifyitems(items):
    """All in one process: a cluster for each would take longer than the tests."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("dask"))


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    from distributed import LocalCluster

    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    folder = tmp_path_factory.mktemp("dask")
    with LocalCluster(
        **settings, host="127.0.0.1", dashboard_address=None, local_directory=str(folder)
    ) as started:
        yield started


@pytest.fixture
def client(cluster):
    from distributed import Client

    with Client(cluster, set_as_default=False) as connected:
        connected.wait_for_workers(2, timeout=PATIENCE)  # one may have died in the last test
        yield connected


@pytest.fixture
def kill_worker(client):
    """Return a function that kills the worker that is busy with a function, or holds its answer."""
    pids = client.run(os.getpid)  # by address; our own processes

    def kill(function, of=client.processing):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for address, keys in of().items():
                if address in pids and any(str(key).startswith(f"{function}-") for key in keys):
                    os.kill(pids[address], signal.SIGKILL)
                    return address
            time.sleep(0.01)
        raise AssertionError(f"no worker had to do with {function}")

    return kill


@pytest.fixture
def killing(kill_worker):
    """Return a function that starts to wait for a worker to kill; the test ends with its death."""
    threads, killed = [], []

    def start(function):
        threads.append(threading.Thread(target=lambda: killed.append(kill_worker(function))))
        threads[-1].start()

    yield start
    for thread in threads:
        thread.join(PATIENCE)
    assert len(killed) == len(threads)
