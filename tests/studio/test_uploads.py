"""Files that come through the browser: too large, cut off, with odd names and odd contents."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from urllib.parse import quote

import pytest

from pathveil.studio.choices import Refusal
from pathveil.studio.projects import Project, safe_name
from tests.studio.live import PATIENCE, TRIPS, LiveStudio

HTML = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def project(live: LiveStudio) -> str:
    return live.project("uploads")


def files(live: LiveStudio, project: str) -> list[str]:
    folder = live.folder_of(project)
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def head(live: LiveStudio, project: str, more: str, name: str = "big.csv") -> bytes:
    lines = (
        f"PUT {live.base}{project}/upload/sensitive?name={quote(name)} HTTP/1.1",
        f"Host: 127.0.0.1:{live.port}", f"Origin: {live.origin}", f"Cookie: {live.cookie}", more, "", "",
    )  # fmt: skip
    return "\r\n".join(lines).encode()


def test_five_gigabytes_are_refused_before_they_are_sent(live: LiveStudio, project: str):
    before = files(live, project)
    with socket.create_connection(("127.0.0.1", live.port), PATIENCE) as connection:
        connection.sendall(head(live, project, "Content-Length: 5000000000"))
        answer = b""
        while piece := connection.recv(1 << 16):  # it hangs up: nothing of the file was sent
            answer += piece
    assert answer.startswith(b"HTTP/1.1 422")
    assert b"larger than 2 GB" in answer
    assert files(live, project) == before


def test_an_upload_that_breaks_off_leaves_nothing(live: LiveStudio, project: str):
    before = files(live, project)
    for length in ("Content-Length: 100000", "Transfer-Encoding: chunked"):
        with socket.create_connection(("127.0.0.1", live.port), PATIENCE) as connection:
            connection.sendall(head(live, project, length) + (b"5\r\na,b\nc" if "chunked" in length else b"a,b\nc"))
            end = time.monotonic() + PATIENCE
            while files(live, project) == before and time.monotonic() < end:
                time.sleep(0.01)
        while files(live, project) != before and time.monotonic() < end:
            time.sleep(0.01)
        assert files(live, project) == before
    assert "Traceback" not in live.log.read_text()


@pytest.mark.parametrize("length", ["Content-Length: -1", "Content-Length: x", "Content-Length: 1, 2"])
def test_a_length_that_makes_no_sense_is_refused(live: LiveStudio, project: str, length):
    before = files(live, project)
    assert live.raw(head(live, project, length)).startswith(b"HTTP/1.1 4")
    assert files(live, project) == before


async def _pieces(count: int, size: int):
    for _ in range(count):
        yield b"x" * size


def test_an_upload_of_unknown_length_is_cut_off_at_the_limit(tmp_path: Path):
    import asyncio

    (tmp_path / "sensitive").mkdir()
    project = Project(tmp_path)
    with pytest.raises(Refusal, match="larger than"):
        asyncio.run(project.receive("sensitive", "big.csv", _pieces(1_000_000, 1_000), most=5_500))
    with pytest.raises(Refusal, match="empty"):
        asyncio.run(project.receive("sensitive", "big.csv", _pieces(0, 1), most=5_500))
    assert not list((tmp_path / "sensitive").iterdir())
    assert asyncio.run(project.receive("sensitive", "big.csv", _pieces(5, 1_000), most=5_500)) == "sensitive/big.csv"


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        (f"{HTML}.csv", "img-src-x-onerror-alert-1-.csv"),
        ("../../x.csv", "x.csv"),
        ("..\\..\\x.csv", "x.csv"),
        ("/etc/passwd.csv", "passwd.csv"),
        ("a" * 4_000 + ".csv", "a" * 76 + ".csv"),
        ("nul\0l.csv", "nul-l.csv"),
        ("--ledger=x.csv", "ledger-x.csv"),
        ("été.csv", "t-.csv"),
        ("system.json.csv", "system.json.csv"),
        ("words-1.parquet.csv", "words-1.parquet.csv"),
        ("release-1.csv", "uploaded-release-1.csv"),
    ],
)
def test_a_file_is_kept_under_a_plain_name(live: LiveStudio, project: str, name, kept):
    answer = live.put(f"{project}/upload/sensitive", TRIPS.encode(), name)
    assert (answer.status, answer.text) == (200, f'{{"path":"sensitive/{kept}"}}')
    assert {Path(one).parent.name for one in files(live, project)} <= {"", "sensitive", "checks"}
    assert (live.folder_of(project) / "sensitive" / kept).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["", "x", "..", ".csv", "x.exe", "release-7", "checks", "a/", "x.parquet.gz.zip"])
def test_names_that_do_not_say_what_the_file_is_are_refused_and_leave_nothing(live: LiveStudio, project: str, name):
    before = files(live, project)
    answer = live.put(f"{project}/upload/sensitive", TRIPS.encode(), name)
    assert (answer.status, "ending" in answer.text) == (422, True)
    assert files(live, project) == before


def test_a_public_upload_never_replaces_what_the_studio_made(live: LiveStudio, project: str):
    for name in ("system.json", "SYSTEM.json", "symbols.txt"):
        answer = live.put(f"{project}/upload/public", b"{}", name)
        assert answer.text == f'{{"path":"public/uploaded-{name}"}}'
    assert live.put(f"{project}/upload/releases", b"{}", "x.csv").status == 404
    assert live.put("/p/none/upload/public", b"{}", "x.csv").status == 404


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.csv", b""),
        ("header.csv", b"a,b\n"),
        ("rubbish.csv", bytes(range(256)) * 4),
        ("rubbish.parquet", b"PAR1" + bytes(range(256))),
        ("rubbish.xes", b"<log><trace>"),
        ("cut.csv.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00"),
        ("bomb.xes", b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><log>&b;</log>'),
        ("rubbish.jsonl", b'{"a": \n[1]\n'),
        ("odd.jsonl", b'{"\\ud800": "a"}\n'),
    ],
)
def test_files_that_cannot_be_read_are_refused_in_a_sentence(live: LiveStudio, project: str, name, content):
    answer = live.put(f"{project}/upload/sensitive", content, name)
    assert answer.status in (200, 422)
    assert "Error" not in answer.text
    if answer.status == 200:
        assert live.get(f"{project}/file").status == 200
    assert live.get("/").status == 200


def test_html_in_names_columns_and_cells_is_shown_as_text(live: LiveStudio):
    project = live.project("html")
    folder = live.folder_of(project)
    content = f'"{HTML}",word{HTML}\n1,"{HTML} b"\n2,"b {HTML}"\n'
    place = folder.parent / f"{HTML}.csv"
    place.write_text(content)
    try:
        answer = live.post(f"{project}/choose", {"path": str(place)})
        assert answer.status == 303, answer.refusal
        pages = [live.get(f"{project}/file")]
        form = {"input": str(place), "kind": "column", "column": f"word{HTML}"}
        assert live.post(f"{project}/file", {**form, "column": HTML + "'\""}).refusal[0] == "column"
        pages.append(live.post(f"{project}/file", {**form, "column": HTML + "'\""}))
        assert live.post(f"{project}/file", form).status == 303
        pages.append(live.get(f"{project}/public"))
        pages.append(live.post(f"{project}/public", {"world": "alphabet", "public-file": HTML, "names": HTML}))
        assert (
            live.post(
                f"{project}/public", {"world": "alphabet", "symbols": f"{HTML}\nb\nsrc=x\n<img\nonerror=alert(1)>"}
            ).status
            == 303
        )
        pages += [live.get(f"{project}/public"), live.get(f"{project}/protected")]
        assert live.post(f"{project}/protected", {"unit": "symbols"}).status == 303
        assert live.post(f"{project}/need", {"purpose": "words", "format": "csv"}).status == 303
        much = {"epsilon": HTML, "adjacency": "1", "length": HTML, "total-epsilon": HTML}
        pages.append(live.post(f"{project}/amount", much))
        much = {"epsilon": "8", "adjacency": "1", "length": "4", "total-epsilon": "20"}
        assert live.post(f"{project}/amount", much).status == 303
        pages += [live.get(f"{project}/review"), live.get("/"), live.post("/projects", {"title": HTML})]
        pages.append(live.post(f"{project}/choose", {"path": f"/{HTML}.csv"}))
        assert sum(HTML in page.text for page in pages) >= 8
        for page in pages:
            assert b"<img" not in page.body
            assert b"'onerror" not in page.body
    finally:
        place.unlink()


def test_the_sensitive_file_is_not_taken_as_public_by_any_name(live: LiveStudio):
    project = live.project("same")
    live.put(f"{project}/upload/sensitive", TRIPS.encode(), "trips.csv")
    live.post(f"{project}/file", {"input": "sensitive/trips.csv", "kind": "column", "column": "route"})
    folder = live.folder_of(project)
    data = folder / "sensitive/trips.csv"
    os.link(data, folder / "public/hard.csv")
    (folder / "public/soft.csv").symlink_to(data)
    (folder / "sensitive/older.csv").write_text("a\nb\n")
    copy = live.put(f"{project}/upload/public", TRIPS.encode(), "a-copy.csv").text
    assert "public/a-copy.csv" in copy
    for name in ("sensitive/trips.csv", str(data), "public/hard.csv", "public/soft.csv",
                 "public/../sensitive/trips.csv", "public/a-copy.csv", "sensitive/older.csv"):  # fmt: skip
        for world in ("alphabet", "edges", "saved"):
            field, why = live.post(f"{project}/public", {"world": world, "public-file": name}).refusal
            assert (field, "sensitive" in why) == ("public-file", True), name


@pytest.mark.parametrize("path", ["/nowhere.csv", "~nobody-of-that-name/x.csv", "x\0y.csv", "/" + "a" * 5_000 + ".csv",
                                  "/dev/zero", "/proc/self/mem.csv", "", "-", "--help", "."])  # fmt: skip
def test_a_place_where_no_file_is_is_refused_beside_its_field(live: LiveStudio, project: str, path):
    for answer in (
        live.post(f"{project}/choose", {"path": path}),
        live.post(f"{project}/file", {"input": path, "kind": "column", "column": "a"}),
    ):
        assert (answer.status, answer.refusal[0]) == (422, "input"), path


def test_safe_names_are_never_empty_and_never_lead_anywhere():
    for name in ("", ".", "..", "/", "\\", "-", "\0", "a" * 500, ".-.-"):
        kept = safe_name(name)
        assert kept
        assert kept[0] not in ".-"
        assert len(kept) <= 80
