"""Run code against Argilla's own client, and print what it sends: ``CODE MODEL``, files.

Argilla's server needs a search engine beside it. What answers here remembers what it is given, and
gives it back: no more than the client wants to know. The client checks questions, records and
suggestions by its own rules before it sends any, and reads the answers by them. Runs in the
environment of Argilla, alone.
"""

from __future__ import annotations

import json
import sys
import uuid
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

_TIMES = {"inserted_at": "2026-01-01T00:00:00", "updated_at": "2026-01-01T00:00:00"}
_WORKSPACE = {"id": str(uuid.uuid4()), "name": "default", **_TIMES}


class Listener(BaseHTTPRequestHandler):
    """Received requests by path, and the only dataset."""

    held: dict[str, Any] = {  # noqa: RUF012 (one listener for all requests)
        "/api/v1/me": {"id": str(uuid.uuid4()), "username": "anna", "role": "owner"},
        "/api/v1/workspaces": {"items": [_WORKSPACE]},
        "/api/v1/me/workspaces": {"items": [_WORKSPACE]},
        "/api/v1/me/datasets": {"items": []},
    }

    def do_GET(self) -> None:
        """Give back what is held under the path."""
        self._answer(self.held.get(self.path, {"items": []}))

    def do_POST(self) -> None:
        """Keep one more, under an id."""
        one = {**self._given(), "id": str(uuid.uuid4())}
        if self.path == "/api/v1/datasets":
            self.held[f"{self.path}/{one['id']}"] = one
        else:
            self.held.setdefault(self.path, {"items": []})["items"].append(one)
        self._answer(one)

    def do_PATCH(self) -> None:
        """Change what is held."""
        self.held[self.path].update(self._given())
        self._answer(self.held[self.path])

    def do_PUT(self) -> None:
        """Publish the dataset, or take its records."""
        if self.path.endswith("/publish"):
            dataset = self.held[self.path.removesuffix("/publish")]
            dataset["status"] = "ready"
            self._answer(dataset)
            return
        items = [{**one, "id": str(uuid.uuid4())} for one in self._given()["items"]]
        self.held.setdefault("records", []).extend(items)
        self._answer({"items": items, "updated_item_ids": []})

    def _given(self) -> dict[str, Any]:
        size = int(self.headers.get("Content-Length") or 0)
        return json.loads(self.rfile.read(size)) if size else {}

    def _answer(self, found: Any) -> None:
        content = json.dumps(found).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def main() -> None:
    """Run the code, with the address of the listener and the file of the model."""
    code = Path(sys.argv[1]).read_text(encoding="utf-8")
    server = HTTPServer(("127.0.0.1", 0), Listener)
    Thread(target=server.serve_forever, daemon=True).start()
    code = code.replace("http://localhost:6900", f"http://127.0.0.1:{server.server_port}")
    code = code.replace("news.labelkin", sys.argv[2])
    exec(compile(code, sys.argv[1], "exec"), {})
    questions = [
        one for path, found in Listener.held.items() if path.endswith("/questions")
        for one in found["items"]
    ]  # fmt: skip
    Path("sent.json").write_text(
        json.dumps({"questions": questions, "records": Listener.held["records"]}), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
