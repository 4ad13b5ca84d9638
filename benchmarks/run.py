"""Everything that has a goal, measured in one run: one table, as Markdown and as JSON.

    python benchmarks/run.py FOLDER             # writes FOLDER/results.md and FOLDER/results.json
    python benchmarks/run.py FOLDER words       # only these files of benchmarks/

Every row is a ratio to a peer or to a limit within this run: machines differ, ratios hardly. Each file runs in a
process of its own, so that memory and compiled code of one do not count for another. Data are looked for in the folder
that PATHVEIL_DATA names, or in `shared/data` beside the repository. What cannot be measured gets a row that says why.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

NAMES = ("words", "batches", "cities", "exact", "models", "certificates", "files", "edits", "spark")
_HERE = Path(__file__).resolve().parent


def measured(name: str) -> list[dict[str, Any]]:
    """The rows of one file, or one row that says why there are none."""
    environment = {**os.environ, "PATHVEIL_BENCHMARK": name}
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        return [_row(f"benchmarks/{name}.py", "", None, None, None, f"not measured: {why}")]
    rows: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return rows


def _row(work: str, compared_with: str, ratio: Any, goal: Any, met: Any, detail: str) -> dict[str, Any]:
    return {"work": work, "compared_with": compared_with, "ratio": ratio, "goal": goal, "met": met, "detail": detail}


def table(rows: list[dict[str, Any]]) -> str:
    """The rows in Markdown."""
    lines = ["| work | compared with | ratio | goal | met | measured |", "|---|---|--:|--:|---|---|"]
    for row in rows:
        met = {True: "yes", False: "no", None: ""}[row["met"]]
        cells = (row["work"], row["compared_with"], _number(row["ratio"]), _number(row["goal"]), met, row["detail"])
        lines.append("| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _number(value: Any) -> str:
    if not isinstance(value, float | int):
        return "" if value is None else str(value)
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the two files go")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(NAMES)}; all if not given")
    wanted = parser.parse_args()
    for name in wanted.names:
        if name not in NAMES:
            parser.error(f"there is no {name!r}; choose from {', '.join(NAMES)}")
    rows = []
    for name in wanted.names or NAMES:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        rows += measured(name)
    wanted.folder.mkdir(parents=True, exist_ok=True)
    (wanted.folder / "results.json").write_text(json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
    (wanted.folder / "results.md").write_text(table(rows))
    print(table(rows))


if __name__ == "__main__":
    if "PATHVEIL_BENCHMARK" in os.environ:
        sys.path.insert(0, str(_HERE))
        print(json.dumps(importlib.import_module(os.environ["PATHVEIL_BENCHMARK"]).goals()))
    else:
        main()
