"""Releases that are sent twice, killed, cancelled and taken up again: one release, one charge."""

from __future__ import annotations

import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pathveil.ledger.ledger import Ledger
from tests.sizes import small_and_large
from tests.studio.live import PATIENCE, PUBLIC, TRIPS, LiveStudio, Moments, begin, studio

OUTPUT = "releases/1/private.csv"


def kinds(folder: Path) -> list[str]:
    """What the ledger says, in order."""
    return [entry.kind for entry in Ledger.open(folder / "budget.db").entries()]


def complete(folder: Path, number: int = 1) -> bool:
    """Whether everything is there, and nothing else."""
    names = {path.name for path in (folder / "releases" / str(number)).iterdir()}
    rows = (folder / "releases" / str(number) / "private.csv").read_text().splitlines()
    return names == {"private.csv", "private.csv.manifest.json", "report.html"} and len(rows) == 1 + 12


@small_and_large("cancelled", True, False)
def test_sent_eight_times_at_once_and_again_later_it_is_one_release_with_one_charge(
    live: LiveStudio, reviewed: str, moments: Moments, cancelled: bool
):
    """Also where it is cancelled after its charge: it goes on with the same charge, taken up four times at once."""
    project = live.copied(reviewed, "eight")
    folder, page = live.folder_of(project), live.get(f"{project}/review")
    if cancelled:
        moments.arm("after charge")
    with ThreadPoolExecutor(8) as tabs:
        answers = [future.result() for future in [tabs.submit(live.release, project, page) for _ in range(8)]]
    assert {(one.status, one.location) for one in answers} == {(303, f"{live.base}{project}/releases/1")}
    if cancelled:
        _cancelled_after_its_charge(live, project, moments)
        with ThreadPoolExecutor(4) as tabs:
            list(tabs.map(lambda _: live.post(f"{project}/releases/1/go-on"), range(4)))
    live.wait(project, 1)
    again = live.release(project, page)
    assert (again.status, again.location) == (303, f"{live.base}{project}/releases/1")
    live.post(f"{project}/releases/1/go-on")
    live.post(f"{project}/releases/1/cancel")
    assert live.state(project, 1)["status"] == "done"
    assert kinds(folder) == ["created", "charged", *(["resumed"] if cancelled else []), "sealed", "completed"]
    assert sorted(path.name for path in (folder / "releases").iterdir()) == ["1"]
    assert complete(folder)
    assert "ε = 8" in live.get(f"{project}/releases/1").text
    _only_the_owner_can_read(folder)
    _nothing_local_is_handed_over(folder)
    for name in ("private.csv", "private.csv.manifest.json", "report.html"):
        answer = live.get(f"{project}/releases/1/files/{name}?keep")
        assert answer.body == (folder / "releases/1" / name).read_bytes()
        assert "attachment" in answer.headers["content-disposition"]
        assert answer.headers["x-content-type-options"] == "nosniff"
    report = live.get(f"{project}/releases/1/files/report.html")
    assert report.headers["content-security-policy"].startswith("sandbox")
    assert "allow-same-origin" not in report.headers["content-security-policy"]
    for name in ("..%2f..%2fproject.json", "state.json", "..%2f2%2fx", ".pathveil-x"):
        assert live.get(f"{project}/releases/1/files/{name}").status == 404


def _only_the_owner_can_read(folder: Path) -> None:
    for path in folder.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


def _nothing_local_is_handed_over(folder: Path) -> None:
    """Neither where the data lie nor what their file is called."""
    for path in (folder / "releases/1").iterdir():
        content = path.read_text()
        assert not [word for word in ("trips.csv", "sensitive/", str(folder), "budget.db") if word in content], path


def test_a_choice_that_changes_between_review_and_release_is_noticed(live: LiveStudio, reviewed: str):
    project = live.copied(reviewed, "changed")
    page = live.get(f"{project}/review")
    values = {"epsilon": "4", "adjacency": "1", "length": "4", "total-epsilon": "20", "yes": "yes"}
    assert live.post(f"{project}/amount", values).status == 303  # in another tab
    answer = live.release(project, page)
    assert (answer.status, "changed" in answer.refusal[1]) == (422, True)
    values["epsilon"] = "8"
    live.post(f"{project}/amount", values)
    system = live.folder_of(project) / "public/system.json"
    system.write_bytes(system.read_bytes() + b"\n")  # the same choices, but another public file
    assert live.release(project, page).status == 422
    system.write_bytes(system.read_bytes()[:-1])
    live.put(f"{project}/upload/sensitive", TRIPS.encode(), "trips.csv")
    assert live.release(project, page).status == 422
    for number in ("2", "0", "-1", "", "٣", "9" * 5000, "1e0"):
        form = {"number": number, "digest": page.hidden("digest")}
        assert live.post(f"{project}/release", form).status == 422
    assert not list((live.folder_of(project) / "releases").iterdir())
    assert not (live.folder_of(project) / "budget.db").exists()


def _cancelled_after_its_charge(live: LiveStudio, project: str, moments: Moments) -> None:
    moments.reached("after charge")
    page = live.get(f"{project}/releases/1").text
    assert "Charged: ε = 8" in page
    assert live.post(f"{project}/releases/1/files", {}).status in (404, 405)
    waits = live.post(f"{project}/public", PUBLIC)
    assert "Release 1 is being made" in waits.refusal[1]
    assert "Release 1 is being made" in live.put(f"{project}/upload/sensitive", TRIPS.encode(), "trips.csv").text
    assert live.post(f"{project}/releases/1/cancel").status == 303
    moments.go_on("after charge")
    live.wait(project, 1, "cancelled")
    assert "Going on uses this charge" in live.get(f"{project}/releases/1").text
    assert list((live.folder_of(project) / "releases/1").iterdir()) == []


def test_what_was_charged_is_not_charged_again_for_other_data_or_another_system(
    live: LiveStudio, reviewed: str, moments: Moments
):
    project = live.copied(reviewed, "other-data")
    folder = live.folder_of(project)
    moments.arm("after charge")
    live.release(project)
    os.kill(moments.reached("after charge"), signal.SIGKILL)
    moments.go_on("after charge")
    live.wait(project, 1, "failed")
    assert "stopped from outside" in live.get(f"{project}/releases/1").text
    system, data = folder / "public/system.json", folder / "sensitive/trips.csv"
    for file, why in ((data, "The data were changed"), (system, "What is public was changed")):
        before = file.read_bytes()
        file.write_bytes(before + b"\n")
        page = live.get(f"{project}/releases/1").text
        assert why in page
        assert "go-on" not in page
        live.post(f"{project}/releases/1/go-on")
        assert live.state(project, 1)["status"] == "failed"
        file.write_bytes(before)
    data.rename(folder / "x")
    assert "no longer there" in live.get(f"{project}/releases/1").text
    (folder / "x").rename(data)
    moved = live.folder / "moved"
    folder.rename(moved)
    assert "was moved" in live.get("/p/moved/releases/1").text
    live.post("/p/moved/releases/1/go-on")
    moved.rename(folder)
    assert kinds(folder) == ["created", "charged"]
    assert "go-on" in live.get(f"{project}/releases/1").text  # as it was: it may go on


@pytest.mark.slow
def test_killed_between_seal_and_appearance_it_is_not_charged_again_in_silence(
    live: LiveStudio, reviewed: str, moments: Moments
):
    project = live.copied(reviewed, "sealed")
    folder = live.folder_of(project)
    moments.arm("after seal")
    live.release(project)
    os.kill(moments.reached("after seal"), signal.SIGKILL)
    moments.go_on("after seal")
    live.wait(project, 1, "failed")
    page = live.get(f"{project}/releases/1").text
    assert "cannot be used again" in page
    assert "go-on" not in page
    live.post(f"{project}/releases/1/go-on")
    assert kinds(folder) == ["created", "charged", "sealed"]
    live.release(project)
    live.wait(project, 2)
    assert kinds(folder) == ["created", "charged", "sealed", "charged", "sealed", "completed"]
    assert complete(folder, 2)


@pytest.mark.slow
def test_cancelled_before_its_charge_nothing_is_charged(live: LiveStudio, reviewed: str, moments: Moments):
    project = live.copied(reviewed, "uncharged")
    folder = live.folder_of(project)
    moments.arm("before charge")
    live.release(project)
    moments.reached("before charge")
    live.post(f"{project}/releases/1/cancel")
    moments.go_on("before charge")
    live.wait(project, 1, "cancelled")
    assert "Nothing was charged" in live.get(f"{project}/releases/1").text
    assert kinds(folder) == ["created"]
    assert not list((folder / "releases/1").iterdir())
    live.post(f"{project}/releases/1/go-on")
    live.wait(project, 1)
    assert kinds(folder) == ["created", "charged", "sealed", "completed"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("before charge", ["charged", "sealed", "completed"]),
        ("after charge", ["charged", "sealed", "completed"]),
        ("after seal", ["charged", "sealed", "completed"]),
        ("before complete", ["charged", "sealed", "completed"]),
    ],
)
def test_the_studio_is_killed_and_its_command_goes_on_by_itself(
    live: LiveStudio, reviewed: str, moments: Moments, tmp_path: Path, moment: str, expected: list[str]
):
    with studio(tmp_path / "projects", moments.environment) as first:
        project = "/p/one"
        _copy(live, reviewed, first, "one")
        moments.arm(moment)
        first.release(project)
        moments.reached(moment)
        first.stop(signal.SIGKILL)
    with studio(tmp_path / "projects", moments.environment) as second:
        folder = second.folder_of(project)
        assert second.state(project, 1)["status"] == "running"
        assert "goes on by itself" in second.post(f"{project}/releases/1/cancel").text
        assert "Make release" not in second.get(f"{project}/review").text
        second.post(f"{project}/releases/1/go-on")
        moments.go_on(moment)
        second.wait(project, 1, "interrupted")
        assert "interrupted" in second.get(f"{project}/releases/1").text
        second.post(f"{project}/releases/1/go-on")
        second.wait(project, 1)
        assert kinds(folder) == ["created", *expected]
        assert complete(folder)


@pytest.mark.slow
@pytest.mark.parametrize(("moment", "recovered"), [
    ("before charge", ["created", "charged", "sealed", "completed"]),
    ("after charge", ["created", "charged", "resumed", "sealed", "completed"]),
])  # fmt: skip
def test_studio_and_command_are_both_killed_and_a_new_studio_goes_on(
    live: LiveStudio, reviewed: str, moments: Moments, tmp_path: Path, moment: str, recovered: list[str]
):
    with studio(tmp_path / "projects", moments.environment) as first:
        _copy(live, reviewed, first, "one")
        moments.arm(moment)
        first.release("/p/one")
        command = moments.reached(moment)
        first.stop(signal.SIGKILL)
        os.kill(command, signal.SIGKILL)
        moments.go_on(moment)
    with studio(tmp_path / "projects", moments.environment) as second:
        _until(lambda: second.state("/p/one", 1)["status"] == "interrupted")
        page = second.get("/p/one/releases/1").text
        assert ("Nothing was charged" if moment == "before charge" else "Charged: ε = 8") in page
        second.post("/p/one/releases/1/go-on")
        second.wait("/p/one", 1)
        assert kinds(second.folder_of("/p/one")) == recovered
        assert complete(second.folder_of("/p/one"))


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_studio_that_is_ended_ends_its_command_and_leaves_nothing_half_written(
    live: LiveStudio, reviewed: str, moments: Moments, tmp_path: Path, stop: int
):
    running = begin(tmp_path / "projects", moments.environment)
    running.enter()
    _copy(live, reviewed, running, "one")
    moments.arm("before seal")
    running.release("/p/one")
    command = moments.reached("before seal")
    assert running.stop(stop) in (0, 128 + stop)
    assert not Path(f"/proc/{command}").exists()
    moments.go_on("before seal")
    folder = running.folder_of("/p/one")
    assert list((folder / "releases/1").iterdir()) == []
    assert json.loads((folder / "sensitive/release-1/state.json").read_text())["status"] == "cancelled"
    assert "Traceback" not in running.log.read_text()
    with studio(tmp_path / "projects", moments.environment) as second:
        second.post("/p/one/releases/1/go-on")
        second.wait("/p/one", 1)
    assert kinds(folder) == ["created", "charged", "resumed", "sealed", "completed"]


@pytest.mark.slow
def test_a_project_that_is_reached_through_a_link_knows_its_own_charges(
    live: LiveStudio, reviewed: str, moments: Moments, tmp_path: Path
):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with studio(tmp_path / "link", moments.environment) as running:
        _copy(live, reviewed, running, "one")
        moments.arm("after seal")
        running.release("/p/one")
        os.kill(moments.reached("after seal"), signal.SIGKILL)
        moments.go_on("after seal")
        running.wait("/p/one", 1, "failed")
        assert "cannot be used again" in running.get("/p/one/releases/1").text


@pytest.mark.slow
def test_a_claim_that_was_cut_off_does_not_stand_in_the_way(live: LiveStudio, reviewed: str, moments: Moments):
    project = live.copied(reviewed, "cut-off")
    (live.folder_of(project) / "sensitive/release-1").mkdir()  # and the power went
    (live.folder_of(project) / "sensitive/release-x").mkdir()
    (live.folder_of(project) / "sensitive/release-x/state.json").write_text("{}")
    moments.arm("before charge")
    assert live.release(project).location.endswith("/releases/1")
    moments.reached("before charge")
    live.post(f"{project}/releases/1/cancel")
    moments.go_on("before charge")
    live.wait(project, 1, "cancelled")
    # What somebody made by hand meanwhile is not taken for a release of the studio.
    by_hand = live.folder_of(project) / "releases/2/private.csv"
    by_hand.parent.mkdir()
    by_hand.touch()
    assert live.get(f"{project}/review").hidden("number") == "3"


def _copy(live: LiveStudio, reviewed: str, other: LiveStudio, name: str) -> None:
    import shutil

    shutil.copytree(live.folder_of(reviewed), other.folder / name)


def _until(what) -> None:
    end = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < end
        time.sleep(0.05)
