"""Run every harness for so many seconds, some at a time, and say which of them found something.

    python fuzz/run.py 600              all of them, ten minutes each
    python fuzz/run.py 60 manifest chain  these two

What libFuzzer learns goes to build/fuzz/NAME (so that the next run begins where this one ended), findings to
build/fuzz/findings, and what it prints to build/fuzz/NAME.log. The exit code is 1 if there is a finding.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build" / "fuzz"
AT_A_TIME = 2


def run(name: str, seconds: int) -> int:
    """One harness in a process of its own; its exit code."""
    learned, findings = BUILD / name, BUILD / "findings"
    learned.mkdir(parents=True, exist_ok=True)
    findings.mkdir(exist_ok=True)
    command = [
        *(sys.executable, str(HERE / f"fuzz_{name}.py"), f"-max_total_time={seconds}", "-print_final_stats=1"),
        f"-dict={HERE / 'tokens.dict'}",
        *(f"-artifact_prefix={findings}/{name}-", str(learned), str(HERE / "corpus" / name)),
    ]
    this_tree = {**os.environ, "PYTHONPATH": str(HERE.parent / "src")}
    with open(BUILD / f"{name}.log", "wb") as log:
        code = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, env=this_tree).returncode
    said = (BUILD / f"{name}.log").read_text(errors="replace")
    runs = re.findall(r"number_of_executed_units: (\d+)", said) or re.findall(r"^#(\d+)", said, re.MULTILINE)
    verdict = f"FOUND SOMETHING, see {log.name}" if code else "nothing"
    print(f"{name}: {runs[-1] if runs else 0} inputs, {verdict}", flush=True)
    return code


def main(seconds: str, *names: str) -> int:
    """All harnesses, or those that are named."""
    chosen = names or sorted(path.stem.removeprefix("fuzz_") for path in HERE.glob("fuzz_*.py"))
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        return int(any(list(pool.map(lambda name: run(name, int(seconds)), chosen))))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
