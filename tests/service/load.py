"""Many clients at once: what they asked, what they got, how long it took."""

import asyncio
import json
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode, urlsplit

import numpy as np


@dataclass
class Load:
    """What clients have seen."""

    seconds: float = 0.0
    latencies: list = field(default_factory=list)
    statuses: Counter = field(default_factory=Counter)
    acknowledged: list = field(default_factory=list)
    faults: list = field(default_factory=list)

    def __str__(self):
        p50, p99 = np.percentile(self.latencies, [50, 99]) * 1000
        rate = len(self.latencies) / self.seconds
        return f"{len(self.latencies)} requests, {rate:.0f}/s, p50 {p50:.0f} ms, p99 {p99:.0f} ms"


def run_clients(address, texts, labels, *, n_clients, seconds):
    """Have clients ask for so long; each waits for an answer before it asks again."""
    return asyncio.run(_run(address, texts, labels, n_clients, seconds))


async def _run(address, texts, labels, n_clients, seconds):
    load, start = Load(), time.perf_counter()
    clients = [
        _Client(address, texts, labels, random.Random(i), f"client {i}").run(load, start + seconds)
        for i in range(n_clients)
    ]
    await asyncio.gather(*clients)
    load.seconds = time.perf_counter() - start
    return load


class _Client:
    """An indexer, or a program: suggestions above all, some explanations, some savings."""

    def __init__(self, address, texts, labels, rng, name):
        self.place, self.texts, self.labels = urlsplit(address), texts, labels
        self.rng, self.name, self.n_saved = rng, name, 0

    async def run(self, load, end):
        reader, writer = await asyncio.open_connection(self.place.hostname, self.place.port)
        try:
            while time.perf_counter() < end:
                await self._ask(reader, writer, load)
        except (OSError, asyncio.IncompleteReadError) as error:
            load.faults.append(repr(error))
        finally:
            writer.close()

    async def _ask(self, reader, writer, load):
        path, body, kind, saved = self._request()
        method = "GET" if body is None else "POST"
        payload = b"" if body is None else body.encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
        start = time.perf_counter()
        writer.write(f"{head}Content-Length: {len(payload)}\r\n\r\n".encode() + payload)
        await writer.drain()
        status, answer = await read_answer(reader)
        load.latencies.append(time.perf_counter() - start)
        load.statuses[status] += 1
        if status >= 300:
            load.faults.append((path, status, answer[:300]))
        elif saved is not None:
            load.acknowledged.append(saved)

    def _request(self):
        """Return path, body, its kind, and the text that is saved by it, if any."""
        dice, text = self.rng.random(), self.rng.choice(self.texts)
        document = {"text": text, "accepted": [self.rng.choice(self.labels)]}
        if dice < 0.55:
            return "/api/models/news/suggest", json.dumps(document), "application/json", None
        if dice < 0.65:
            label = self.rng.choice(self.labels)
            body = json.dumps({**document, "label": label})
            return "/api/models/news/explain", body, "application/json", None
        if dice < 0.75:
            form = urlencode({"text": text, "limit": 5})
            kind = "application/x-www-form-urlencoded"
            return "/v1/projects/news/suggest", form, kind, None
        if dice < 0.8:
            query = quote(self.rng.choice(self.labels)[:3])
            return f"/api/models/news/labels?q={query}", None, "text/plain", None
        self.n_saved += 1
        saved = f"{self.name}, document {self.n_saved}"
        if dice < 0.9:
            body = json.dumps({**document, "text": saved})
            return "/api/models/news/documents", body, "application/json", saved
        body = json.dumps([{"text": saved, "subjects": [{"uri": self.rng.choice(self.labels)}]}])
        return "/v1/projects/news/learn", body, "application/json", saved


async def read_answer(reader):
    """Return status and body of one answer."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    size = [line for line in head.split("\r\n") if line.startswith("content-length:")]
    body = await reader.readexactly(int(size[0].partition(":")[2])) if size else b""
    return int(head.split()[1]), body
