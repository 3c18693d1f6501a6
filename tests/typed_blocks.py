"""Run code blocks as a reader types them: ``[language, code]`` pairs as JSON in, outputs out.

It is run by the Python of a fresh environment, so it imports nothing but the standard library. A
service is started on a free port, asked once and stopped; a review gets one answer.
"""

import contextlib
import io
import json
import re
import shlex
import signal
import subprocess
import sys
import urllib.request
from itertools import groupby


def run_python(code, scope):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "<page>", "exec"), scope)
    return printed.getvalue()


def run_shell(code):
    printed = ""
    lines = code.replace("\\\n", " ").splitlines()
    for serves, group in groupby(lines, lambda line: line.startswith("labelkin serve")):
        if serves:
            for line in group:
                ask_service(line)
        else:
            command = ["bash", "-euo", "pipefail", "-c", "\n".join(group)]
            printed += subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return printed


def ask_service(line):
    command = [*shlex.split(line, comments=True), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as service:
        try:
            said = iter(service.stderr.readline, "")
            address = next(filter(None, (re.search(r"http://\S+/", text) for text in said)))[0]
            assert b"<title" in urllib.request.urlopen(address, timeout=60).read()
            if "--review" in command:
                answer = json.dumps({"number": 1, "answer": "change"}).encode()
                request = urllib.request.Request(f"{address}api/review/answers", answer)
                request.add_header("Content-Type", "application/json")
                urllib.request.urlopen(request, timeout=60)
        finally:
            service.send_signal(signal.SIGINT)
            service.communicate(timeout=60)
    assert service.returncode == 0, service.returncode


if __name__ == "__main__":
    scope = {"__name__": "__main__"}
    run = {"python": lambda code: run_python(code, scope), "sh": run_shell}
    json.dump([run[language](code) for language, code in json.load(sys.stdin)], sys.stdout)
