"""A real server for tests: in a thread of this process, or in a separate process."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from threading import Thread

import httpx
import uvicorn

from labelkin.service import create_app
from labelkin.service.serving import listen

#: Serves the files in its arguments and prints its address.
PROGRAM = """
import sys
from pathlib import Path
from labelkin.service import Limits, serve
saved_work, review, *models = map(Path, sys.argv[1:])
serve(
    models,
    port=0,
    saved_work=saved_work,
    review=None if review == Path("none") else review,
    announce=lambda address: print(address, flush=True),
    limits=Limits({limits}),
)
"""
#: Before it: a disk on which every commit takes a while.
SLOW_DISK = """
import time
from labelkin.curation.saved_work import SavedWork
write = SavedWork._write
def slow(*args):
    number = write(*args)
    time.sleep(0.03)
    return number
SavedWork._write = slow
"""


@contextmanager
def serving(*models, **options):
    """Serve models in a thread; give a client of it."""
    app = create_app(models, **options)
    config = uvicorn.Config(app, log_level="error", access_log=False, loop="asyncio")
    server = uvicorn.Server(config)
    with listen("127.0.0.1", 0) as listening:
        thread = Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        try:
            with httpx.Client(base_url=address, timeout=30) as client:
                client.app, client.address = app, f"{address}/"
                yield client
        finally:
            server.should_exit = True
            thread.join()


class ServerProcess:
    """A server in a separate process, which can be killed."""

    def __init__(self, model, saved_work, *, before="", review="none", stderr=None, limits=""):
        program = before + PROGRAM.replace("{limits}", limits)
        models = [] if model is None else [model]
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, saved_work, review, *models],
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        self.address = self.process.stdout.readline().strip()
        assert self.address, "the server has not started"

    def kill(self):
        """Kill it."""
        self.process.kill()
        self.close()

    def stop(self):
        """Ask it to end, and wait; return its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.close()

    def close(self):
        status = self.process.wait(timeout=60)
        self.process.stdout.close()
        return status


@contextmanager
def server_process(model, saved_work, **options):
    """Serve a model (``None``: none) in a separate process that ends with the test."""
    server = ServerProcess(model, saved_work, **options)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.kill()


def wait_until(is_so, seconds=20.0):
    """Wait until something is so, on a busy machine too."""
    end = time.perf_counter() + seconds
    while not is_so():
        assert time.perf_counter() < end, "it did not come to pass"
        time.sleep(0.01)


async def read_answer(reader):
    """Return status and body of one answer."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    size = [line for line in head.split("\r\n") if line.startswith("content-length:")]
    body = await reader.readexactly(int(size[0].partition(":")[2])) if size else b""
    return int(head.split()[1]), body
