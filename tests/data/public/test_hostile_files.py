"""Files of others that want to do harm: entities, archives that fill the disk, names that lead out of a folder."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

import pathveil as pv
from pathveil.data.public import SavedSystem, read_bpmn, read_graphml, read_gtfs, read_pnml

READERS = {"definitions": read_bpmn, "pnml": read_pnml, "graphml": read_graphml}
LAUGHS = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 30))


@pytest.mark.parametrize("root", READERS)
@pytest.mark.parametrize(
    "declaration",
    [
        f'<!DOCTYPE x [<!ENTITY l0 "a">{LAUGHS}]>',
        '<!DOCTYPE x [<!ENTITY secret SYSTEM "{secret}">]>',
        '<!DOCTYPE x [<!ENTITY % secret SYSTEM "{secret}"> %secret;]>',
        '<!DOCTYPE x SYSTEM "{secret}">',
    ],
    ids=["a billion laughs", "external entity", "external parameter entity", "external subset"],
)
def test_files_that_declare_a_document_type_are_refused(root: str, declaration: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("a")
    path = tmp_path / "file.xml"
    path.write_text(f"{declaration.replace('{secret}', (tmp_path / 'secret').as_uri())}<{root}>&l29;&secret;</{root}>")
    with pytest.raises(pv.InvalidSystemError, match="declares a document type"):
        READERS[root](path)


@pytest.mark.parametrize("root", READERS)
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not well-formed"),
        (b"\x00\x01", "not well-formed"),
        (b"<{root}>", "not well-formed"),
        (b"<other/>", "the file should be one <{root}>, not <other>"),
        (b'<?xml version="1.0" encoding="nonsense"?><{root}/>', "nonsense|unknown encoding"),
        (b'<?xml version="1.0" encoding="UTF-8"?><{root} a="\xff"/>', "not well-formed"),
    ],
    ids=["empty", "no XML", "cut off", "another format", "an unknown encoding", "a wrong encoding"],
)
def test_files_that_are_no_such_xml_are_refused(root: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "file.xml").write_bytes(content.replace(b"{root}", root.encode()))
    with pytest.raises(pv.PathVeilError, match=rf"file\.xml.*({message.replace('{root}', root)})"):
        READERS[root](tmp_path / "file.xml")


TIMES = "trip_id,stop_id,stop_sequence\nt,a,1\nt,b,2\n"


def archive(path: Path, **files: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, text in files.items():
            made.writestr(name, text)
    return path


def test_an_archive_that_would_fill_the_disk_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "bomb.zip", **{"stop_times.txt": TIMES + "t,c,3\n" * (12 << 20)})
    with pytest.raises(pv.DataFileError, match=r"bomb\.zip: stop_times\.txt would have 75,\d+,\d+ bytes"):
        read_gtfs(path)


def test_names_in_an_archive_lead_nowhere(tmp_path: Path) -> None:
    files = {"stop_times.txt": TIMES, "../escaped.txt": "x", "/absolute.txt": "x", "..\\stops.txt": "x"}
    saved = read_gtfs(archive(tmp_path / "feed.zip", **files))
    assert isinstance(saved, SavedSystem)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["feed.zip"]
    assert not (tmp_path.parent / "escaped.txt").exists()


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"not a zip archive"])
def test_what_is_no_archive_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "feed.zip").write_bytes(content)
    with pytest.raises(pv.DataFileError, match=r"feed\.zip: a GTFS feed is a folder or a zip archive"):
        read_gtfs(tmp_path / "feed.zip")


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "feed.zip", **{"stop_times.txt": TIMES * 100})
    content = bytearray(path.read_bytes())
    content[60:70] = b"\xff" * 10
    path.write_bytes(content)
    with pytest.raises(pv.DataFileError, match=r"feed\.zip"):
        read_gtfs(path)


def test_an_archive_with_its_files_in_a_folder_says_so(tmp_path: Path) -> None:
    with pytest.raises(pv.DataFileError, match="lies in a folder of the archive"):
        read_gtfs(archive(tmp_path / "feed.zip", **{"feed/stop_times.txt": TIMES}))
