"""The folder of what is not finished: for its owner alone, and gone when the work ends."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

from pathveil.data.workspace import private_workspace


def test_the_workspace_is_closed_to_others_and_lies_beside_the_output(tmp_path: Path) -> None:
    with private_workspace(tmp_path / "out.txt") as folder:
        assert folder.parent == tmp_path
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not folder.exists()


def test_workspaces_of_dead_processes_are_removed_and_those_of_living_ones_are_not(tmp_path: Path) -> None:
    output = tmp_path / "out.txt"
    script = (
        "import sys, time; from pathlib import Path; from pathveil.data.workspace import private_workspace\n"
        f"with private_workspace(Path({str(output)!r})) as folder:\n"
        "    (folder / 'secret').write_text('x'); print(folder, flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        theirs = Path(process.stdout.readline().strip())
        with private_workspace(output):
            assert (theirs / "secret").exists()
    finally:
        process.kill()
        process.wait()
    assert (theirs / "secret").exists()  # nobody could clean up after SIGKILL
    with private_workspace(output):
        assert not theirs.exists()
