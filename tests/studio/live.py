"""A studio that runs as a program of its own, and somebody who talks to it over HTTP without a browser."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from urllib.parse import quote, urlencode

import pathveil

SOURCES = Path(pathveil.__file__).resolve().parent.parent
# `inside` has a sitecustomize, which every Python program looks for: commands can be held up and given a seed by it.
PATH = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent / "inside"), str(SOURCES)])}
PATIENCE = 60.0  # seconds for anything that has to happen
TRIPS = "trip,route\n" + "".join(f"{i},{word}\n" for i, word in enumerate(["a b c a", "b c a b", "c a b c"] * 4))
WAY = ("file", "public", "protected", "need", "amount")


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text, as somebody reads it: without the escapes of HTML."""
        return unescape(self.body.decode())

    @property
    def location(self) -> str:
        return self.headers["location"]

    @property
    def refusal(self) -> tuple[str, str]:
        """The field beside which something was refused, and the sentence; two empty texts where nothing was."""
        said = re.search(r'<p class="refusal" id="(.*?)-refusal" role="alert">(.*?)</p>', self.body.decode(), re.S)
        if said:
            return said[1], unescape(said[2])
        said = re.search(r'<p class="refusal whole" role="alert">(.*?)</p>', self.body.decode(), re.S)
        return ("", unescape(said[1])) if said else ("", "")

    def hidden(self, name: str) -> str:
        """The value of a hidden field."""
        found = re.search(rf'<input type="hidden" name="{name}" value="(.*?)">', self.body.decode())
        assert found, f"no field {name}"
        return unescape(found[1])


@dataclass
class LiveStudio:
    """A running studio. `cookie` is what its link gave."""

    process: subprocess.Popen[bytes]
    folder: Path
    log: Path
    port: int
    base: str
    link: str
    cookie: str = ""
    names: set[str] = field(default_factory=set)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] = {}) -> Answer:
        """One request as this session's browser would send it; `headers` replace, and "" leaves one out."""
        own = {"Host": f"127.0.0.1:{self.port}", "Cookie": self.cookie, "Origin": self.origin} | dict(headers)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in own.items():
                if value:
                    connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def raw(self, request: bytes) -> bytes:
        """What comes back for these very bytes, until the other side hangs up."""
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as connection:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            received = b""
            while piece := connection.recv(1 << 16):
                received += piece
        return received

    def get(self, path: str, headers: Mapping[str, str] = {}) -> Answer:
        return self.ask("GET", self.base + path, None, headers)

    def post(self, path: str, form: Mapping[str, object] = {}, headers: Mapping[str, str] = {}) -> Answer:
        typed = {"Content-Type": "application/x-www-form-urlencoded"} | dict(headers)
        return self.ask("POST", self.base + path, urlencode(dict(form)).encode(), typed)

    def put(self, path: str, content: bytes, name: str) -> Answer:
        return self.ask("PUT", f"{self.base}{path}?name={quote(name, safe='')}", content)

    def enter(self) -> None:
        """Open the link, as the browser does."""
        answer = self.ask("GET", self.link.removeprefix(self.origin), None, {"Cookie": ""})
        assert answer.status == 303, answer
        self.cookie = answer.headers["set-cookie"].split(";")[0]

    def project(self, title: str) -> str:
        """A new project; its address."""
        name = title
        while name in self.names:
            name += "x"
        self.names.add(name)
        answer = self.post("/projects", {"title": name})
        assert answer.status == 303, answer.text
        return answer.location.removeprefix(self.base).removesuffix("/file")

    def folder_of(self, project: str) -> Path:
        return self.folder / project.removeprefix("/p/")

    def walk(self, project: str, name: str, content: bytes, *forms: Mapping[str, object]) -> Answer:
        """Hand in a file and go through the steps with these forms; the page that comes then."""
        answer = self.put(f"{project}/upload/sensitive", content, name)
        assert answer.status == 200, answer.text
        path = re.search(r'"path":"(.*?)"', answer.body.decode())
        assert path
        for step, form in zip(WAY, forms, strict=False):
            more = {"input": path[1]} if step == "file" else {}
            answer = self.post(f"{project}/{step}", {**more, **form})
            assert answer.status == 303, (step, answer.refusal)
        return self.get(answer.location.removeprefix(self.base))

    def copied(self, project: str, title: str) -> str:
        """Another project with the same choices and no releases, without walking the way once more."""
        begun, path = self.folder_of(project), self.project(title)
        for part in ("public", "sensitive"):
            shutil.copytree(begun / part, self.folder_of(path) / part, dirs_exist_ok=True,
                            ignore=shutil.ignore_patterns("release-*"))  # fmt: skip
        shutil.copy(begun / "project.json", self.folder_of(path))
        return path

    def release(self, project: str, review: Answer | None = None) -> Answer:
        """Press the button of the review."""
        page = review or self.get(f"{project}/review")
        return self.post(f"{project}/release", {"number": page.hidden("number"), "digest": page.hidden("digest")})

    def state(self, project: str, number: int) -> dict[str, object]:
        found: dict[str, object] = json.loads(self.get(f"{project}/releases/{number}/state").body)
        return found

    def wait(self, project: str, number: int, wanted: str = "done") -> None:
        """Until the release is no longer running; it has to be as wanted."""
        end = time.monotonic() + PATIENCE
        while (now := self.state(project, number))["status"] == "running":
            assert time.monotonic() < end, now
            time.sleep(0.05)
        assert now["status"] == wanted, (now, self.get(f"{project}/releases/{number}").refusal)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """End it; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(PATIENCE)


def begin(folder: Path, environment: Mapping[str, str] = {}) -> LiveStudio:
    """Start a studio on any free port."""
    log = folder.parent / f"{folder.name}-log-{time.monotonic_ns()}"
    with open(log, "wb") as written:
        process = subprocess.Popen(
            [sys.executable, "-m", "pathveil", "studio", "--projects", str(folder), "--no-browser"],
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=subprocess.STDOUT,
            env={**os.environ, **PATH, **environment},
        )
    end = time.monotonic() + PATIENCE
    while not (found := re.search(r"http://127.0.0.1:(\d+)(/\w+)/\?token=\S+", log.read_text())):
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < end
        time.sleep(0.02)
    return LiveStudio(process, folder, log, int(found[1]), found[2], found[0])


@contextmanager
def studio(folder: Path, environment: Mapping[str, str] = {}) -> Iterator[LiveStudio]:
    """A studio that one has entered; ended afterwards."""
    running = begin(folder, environment)
    try:
        running.enter()
        yield running
    finally:
        running.stop()


# What is typed on the steps, for a release of each kind.
COLUMN = {"kind": "column", "column": "route"}
PUBLIC = {"world": "alphabet", "symbols": "a\nb\nc"}
SYMBOLS = {"unit": "symbols"}
WORD = {"unit": "word", "max-length": "6", "neighbours": "add-remove"}
WORDS = {"purpose": "words", "format": "csv"}
SYNTHETIC = {"purpose": "synthetic", "count": "9", "format": "csv"}
MODEL = {"purpose": "model"}
MUCH = {"epsilon": "8", "adjacency": "1", "length": "4", "total-epsilon": "20", "yes": "yes"}
MUCH_FOR_A_MODEL = {"epsilon": "8", "words": "12", "delta": "", "total-epsilon": "20"}
PRIVATE_WORDS = (COLUMN, PUBLIC, SYMBOLS, WORDS, MUCH)
PRIVATE_MODEL = (COLUMN, PUBLIC, WORD, MODEL, MUCH_FOR_A_MODEL)


@dataclass(frozen=True)
class Moments:
    """Moments at which commands wait: armed by a file, shown by another one, over when the first is gone."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        return {"STUDIO_MOMENTS": str(self.folder)}

    def arm(self, moment: str) -> None:
        (self.folder / f"{moment}.reached").unlink(missing_ok=True)
        (self.folder / moment).touch()

    def reached(self, moment: str) -> int:
        """Wait until a command is there; its process."""
        end = time.monotonic() + PATIENCE
        file = self.folder / f"{moment}.reached"
        while not file.exists() or not file.read_text():
            assert time.monotonic() < end, f"no command came to the moment {moment!r}"
            time.sleep(0.02)
        return int(file.read_text())

    def go_on(self, moment: str) -> None:
        (self.folder / moment).unlink(missing_ok=True)
