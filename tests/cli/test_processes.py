"""Many commands at once against one ledger: the budget is never overspent, and never wasted by the race."""

from __future__ import annotations

import contextlib
import json
from decimal import Decimal
from pathlib import Path

import pytest

from pathveil.ledger.ledger import Ledger
from pathveil.privacy.units import Symbols
from tests.cli.conftest import write_inputs
from tests.sizes import small_and_large

LINE = "privatize lines.txt --alphabet pages.txt --epsilon {} --yes --ledger budget.db --output {}.txt -q"

# One process loads everything and has no threads yet; then there are many of it, and all start at the same moment.
_RACE = """
import importlib, json, os, sys
for name in ("pathveil.cli.commands", "pathveil.data", "pathveil.words.certified", "pathveil.ledger.ledger"):
    importlib.import_module(name)
__import__("pyarrow").array(["a"])  # its first use loads more
from pathveil.cli.app import main

waiting, go = os.pipe()
children = []
for number, line in enumerate(json.loads(sys.argv[1])):
    child = os.fork()
    if not child:
        os.close(go)
        os.read(waiting, 1)  # returns when the parent closes its end
        sys.stderr = open(f"{number}.err", "w", encoding="utf-8")
        code = 99
        try:
            code = main(line.split())
            sys.stderr.close()
        finally:
            os._exit(code)
    children.append(child)
os.close(go)
print(json.dumps([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]))
"""


@small_and_large("processes", 6, 16)
@pytest.mark.parametrize(
    ("budget", "epsilon", "winners"),
    [
        pytest.param(10.0, "2", 5, marks=pytest.mark.slow),
        pytest.param(2.0, "2", 1, marks=pytest.mark.slow),
        (0.3, "0.1", 3),
    ],
)
def test_of_many_commands_exactly_as_many_win_as_the_budget_covers(
    tmp_path: Path, budget, epsilon, winners, processes, programs
):
    write_inputs(tmp_path)
    ledger = Ledger.create(tmp_path / "budget.db", epsilon=budget, unit=Symbols(1))
    lines = json.dumps([LINE.format(epsilon, number) for number in range(processes)])
    with contextlib.chdir(tmp_path):
        race = programs.run(lines, code=_RACE)
    codes = json.loads(race.stdout)
    assert sorted(codes) == [0] * winners + [1] * (processes - winners)
    ledger.verify()
    content = ledger.to_dict()
    assert [charge["status"] for charge in content["charges"]] == ["completed"] * winners
    assert ledger.spent.epsilon == winners * Decimal(epsilon)
    for number, code in enumerate(codes):
        said = (tmp_path / f"{number}.err").read_text(encoding="utf-8")
        files = sorted(path.name for path in tmp_path.glob(f"{number}.txt*"))
        if code == 0:
            assert (said, files) == ("", [f"{number}.txt", f"{number}.txt.manifest.json"])
            manifest = json.loads((tmp_path / files[1]).read_text(encoding="utf-8"))
            assert manifest["epsilon"] == float(epsilon)
        else:
            assert [line.split(":")[0] for line in said.splitlines()[-3:]] == ["requested", "remaining", "difference"]
            assert files == []
    assert not list(tmp_path.glob(".pathveil-*"))
