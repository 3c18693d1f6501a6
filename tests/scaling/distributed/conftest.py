"""Two worker processes on this machine, for all tests here; and how one of them dies."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "cli"))  # in_process: the command's caller

#: Seconds within which something that must happen happens, on a busy machine.
PATIENCE = 120


#: A cluster in a separate process, which restarts workers.
CLUSTER = """
if __name__ == "__main__":
    import sys
    import dask
    from distributed import LocalCluster

    # A worker that restarts slowly is not given up; one that died is not called for half a minute.
    times = {"deploy.lost-worker-timeout": "1h", "comm.timeouts.connect": "10s"}
    dask.config.set({f"distributed.{name}": time for name, time in times.items()})
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(host="127.0.0.1", local_directory=sys.argv[1], **settings) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()  # until the tests are done, however they end
"""


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    """Return where the scheduler of two worker processes is."""
    folder = tmp_path_factory.mktemp("dask")
    (folder / "cluster.py").write_text(CLUSTER)
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    paths = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}  # workers import the tests
    with (folder / "log.txt").open("w") as log:
        program = [sys.executable, folder / "cluster.py", folder]
        process = subprocess.Popen(program, **streams, stderr=log, env=os.environ | paths)
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()


@pytest.fixture
def client(address):
    from distributed import Client

    with Client(address, set_as_default=False, timeout=PATIENCE) as connected:
        connected.wait_for_workers(2, timeout=PATIENCE)  # one may have died in the last test
        yield connected


@pytest.fixture
def kill_worker(client):
    """Return a function that kills the worker that is busy with a function, or holds its answer."""
    pids = _pids(client)

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


def _pids(client):
    """Return the processes of both workers by address; they are our own."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = client.run(os.getpid, on_error="ignore")  # one may just be restarting
        if len(found) == 2:
            return found
        time.sleep(0.1)
    raise AssertionError("the workers are not there")


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
