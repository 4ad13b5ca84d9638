"""The program itself: one for a folder, and nothing of it is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.studio.live import PATH, PATIENCE, LiveStudio, studio


@pytest.mark.slow
def test_a_second_studio_on_the_same_folder_is_refused_by_whatever_name(live: LiveStudio, tmp_path: Path):
    (tmp_path / "link").symlink_to(live.folder)
    for folder in (live.folder, tmp_path / "link"):
        line = [sys.executable, "-m", "pathveil", "studio", "--no-browser", "--projects", str(folder)]
        done = subprocess.run(line, capture_output=True, text=True, env={**os.environ, **PATH}, timeout=PATIENCE)
        assert done.returncode == 1
        assert "another studio is at work there" in done.stderr
        assert "Traceback" not in done.stderr
        assert "token" not in done.stdout


@pytest.mark.slow
def test_what_a_killed_studio_left_is_gone_or_removed_by_the_next(live: LiveStudio, reviewed: str, tmp_path: Path):
    with studio(tmp_path / "projects") as first:
        project = first.project("one")
        (first.folder_of(project) / "sensitive/.unfinished-0123456789abcdef").write_text("half of a file")
        for part in ("public/system.json", "sensitive/trips.csv", "project.json"):
            (first.folder_of(project) / part).write_bytes((live.folder_of(reviewed) / part).read_bytes())
        first.get(f"{project}/forecast?length=4&adjacency=1")
        workers = _children(first.process.pid)
        assert workers
        first.stop(signal.SIGKILL)
    end = time.monotonic() + PATIENCE
    while any(Path(f"/proc/{worker}").exists() for worker in workers):
        assert time.monotonic() < end, "a process of a killed studio goes on computing forecasts"
        time.sleep(0.1)
    (tmp_path / "projects/broken").mkdir()
    (tmp_path / "projects/broken/project.json").write_text("{")
    (tmp_path / "projects/Odd Name").mkdir()
    (tmp_path / "projects/Odd Name/project.json").write_text("{}")
    with studio(tmp_path / "projects") as second:
        assert not list(second.folder_of(project).rglob(".unfinished-*"))
        page = second.get("/")
        assert page.status == 200
        assert "broken" in page.text
        assert "Odd Name" not in page.text
        assert second.get("/p/broken/file").status == 422
        assert second.post("/projects", {"title": "Broken!"}).refusal[0] == "title"  # the names collide
        assert second.post("/projects", {"title": "one"}).refusal[0] == "title"
        (tmp_path / "projects/begun").mkdir()  # by a studio that was killed there and then
        assert second.post("/projects", {"title": "begun"}).status == 303


def _children(process: int) -> list[str]:
    found = Path(f"/proc/{process}/task").glob("*/children")
    if not Path(f"/proc/{process}/task").exists():
        pytest.skip("this system does not show processes")
    return [child for listed in found for child in listed.read_text().split()]
