"""The output is there when it is complete, or it is not there."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

import pathveil as pv
from pathveil import data
from pathveil.data.writing.publishing import publish
from tests.data.files import faithful
from tests.programs import Programs

WORLD = pv.Alphabet("ab")


def run(source: Path, output: Path, **options: object) -> None:
    data.privatize_file(source, data.TextLines(), faithful(WORLD), output, **options)  # type: ignore[arg-type]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.txt"
    path.write_text("a b\nb a\n" * 100)
    return path


@pytest.mark.parametrize("problem", [KeyboardInterrupt, MemoryError, OSError, SystemExit])
@pytest.mark.parametrize("stage", ["reading", "writing"])
def test_nothing_is_left_behind_when_the_work_breaks_off(
    problem: type[BaseException], stage: str, source: Path, tmp_path: Path
) -> None:
    def break_off(now: str, _words: int) -> None:
        if now == stage:
            raise problem

    with pytest.raises(problem):
        run(source, tmp_path / "out.txt", progress=break_off)
    assert list(tmp_path.iterdir()) == [source]


def test_an_existing_output_or_manifest_is_not_replaced_unasked(source: Path, tmp_path: Path) -> None:
    for name in ("out.txt", "out.txt.manifest.json"):
        (tmp_path / name).write_text("precious")
        with pytest.raises(pv.DataFileError, match="exists already"):
            run(source, tmp_path / "out.txt")
        assert (tmp_path / name).read_text() == "precious"
        (tmp_path / name).unlink()
    (tmp_path / "out.txt").write_text("old")
    run(source, tmp_path / "out.txt", overwrite=True)
    assert (tmp_path / "out.txt").read_text() != "old"


def test_an_output_that_appears_meanwhile_is_not_replaced(source: Path, tmp_path: Path) -> None:
    def compete(_stage: str, _words: int) -> None:
        (tmp_path / "out.txt").write_text("precious")

    with pytest.raises(pv.DataFileError, match="exists already"):
        run(source, tmp_path / "out.txt", progress=compete)
    assert (tmp_path / "out.txt").read_text() == "precious"
    assert not (tmp_path / "out.txt.manifest.json").exists()  # it would speak for a file that is not ours


@pytest.mark.parametrize("step", [1, 2])
def test_an_old_output_never_lies_beside_a_new_manifest(
    step: int, source: Path, tmp_path: Path, programs: Programs
) -> None:
    run(source, tmp_path / "out.txt")
    script = (
        "import os, pathveil as pv; from pathveil import data; from pathveil.data.writing import manifest, publishing\n"
        "steps = []\n"
        "def die(*arguments):\n"
        "    steps.append(arguments)\n"
        f"    if len(steps) == {step}: os._exit(9)  # as SIGKILL would: nothing cleans up\n"
        "    publishing.publish(*arguments)\n"
        "manifest.publish = die\n"
        f"data.privatize_file({str(source)!r}, data.TextLines(), pv.Online(pv.Alphabet('ab'), 1.0), "
        f"{str(tmp_path / 'out.txt')!r}, overwrite=True)"
    )
    assert programs.run(code=script).returncode == 9
    assert not (tmp_path / "out.txt").exists()


def test_outputs_that_cannot_be_made_are_refused(source: Path, tmp_path: Path) -> None:
    with pytest.raises(pv.DataFileError, match="is a folder"):
        run(source, tmp_path)
    with pytest.raises(pv.DataFileError, match="does not exist"):
        run(source, tmp_path / "none" / "out.txt")


def test_an_interrupt_from_outside_ends_the_work_and_leaves_nothing(tmp_path: Path, programs: Programs) -> None:
    (tmp_path / "in.csv").write_text("c,o,s\n" + "".join(f"{i * 7919 % 100003},1,a\n" for i in range(100_000)))
    script = (
        # A process that was started in the background may have inherited that it ignores the signal.
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import pathveil as pv; from pathveil import data\n"
        "def tell(stage, words): print(stage, flush=True)\n"
        f"while True: data.privatize_file({str(tmp_path / 'in.csv')!r}, data.LongTable('c', 'o', 's'), "
        f"pv.Online(pv.Alphabet('ab'), 1.0), {str(tmp_path / 'out.csv')!r}, overwrite=True, progress=tell)"
    )
    with programs.with_pipes(code=script) as program:
        program.stdout.readline()
        time.sleep(0.3)
        os.kill(program.pid, signal.SIGINT)
        assert b"KeyboardInterrupt" in program.stderr.read()
        assert program.wait() != 0
    assert {path.name for path in tmp_path.iterdir()} <= {"in.csv", "out.csv", "out.csv.manifest.json"}


def test_publishing_works_where_there_are_no_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", no_links)
    (tmp_path / "made").write_text("new")
    publish(tmp_path / "made", tmp_path / "final", overwrite=False)
    assert (tmp_path / "final").read_text() == "new"
    (tmp_path / "made").write_text("newer")
    with pytest.raises(pv.DataFileError, match="exists already"):
        publish(tmp_path / "made", tmp_path / "final", overwrite=False)
