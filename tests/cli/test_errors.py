"""Whatever a user gets wrong: exit code 1 or 2, a message on standard error, no traceback, nothing written."""

from __future__ import annotations

import pytest

WORDS = "privatize trips.parquet --column route --edges roads.csv"

WRONG_USE = {
    "no such command": "dmeo",
    "no such option": f"{WORDS} --epsilon 1 --output out.parquet --fast",
    "no epsilon": f"{WORDS} --output out.parquet",
    "epsilon is no number": f"{WORDS} --epsilon one --output out.parquet",
    "epsilon is negative": f"{WORDS} --epsilon -1 --output out.parquet",
    "epsilon is not finite": f"{WORDS} --epsilon inf --output out.parquet",
    "adjacency is 0": f"{WORDS} --epsilon 1 --adjacency 0 --output out.parquet",
    "two systems": f"{WORDS} --alphabet zones.txt --epsilon 1 --output out.parquet",
    "words without a place": "privatize trips.parquet --edges roads.csv --epsilon 1 --output out.parquet",
    "half a long table": "privatize visits.csv --case visit --alphabet pages.txt --epsilon 1 --output out.csv",
    "a user without a limit": f"{WORDS} --epsilon 1 --user driver --output out.parquet",
    "resume without a ledger": f"{WORDS} --epsilon 1 --resume --output out.parquet",
    "words without a unit": "model trips.parquet --column route --states zones.txt --epsilon 1 --output out.json",
    "pairs of words": "model trips.csv --from pickup --to dropoff --unit word --states zones.txt --epsilon 1 -o o.json",
    "a delta that promises nothing": "model trips.csv --from pickup --to dropoff --states zones.txt --epsilon 1 "
    "--delta 2 -o out.json",
    "words cut to one symbol": "model lines.txt --unit word --max-length 1 --states pages.txt --epsilon 1 -o out.json",
    "a target of 2": "plan --edges roads.csv --length 4 --target-error 2",
    "length 0": "compare --edges roads.csv --length 0 --epsilon 1",
    "pld without a size": "ledger init out.db --epsilon 1 --unit symbols --adjacency 1 --delta 1e-5 --composition pld",
    "no budget": "ledger init out.db --epsilon 0 --unit symbols --adjacency 1",
    "states that are sensitive": "model lines.txt --unit transition --states lines.txt --epsilon 1 -o out.json",
}

FAILED_WORK = {
    "no such input": "privatize nothing.csv --column a --alphabet pages.txt --epsilon 1 --output out.csv",
    "no such column": f"{WORDS.replace('route', 'rout')} --epsilon 1 --output out.parquet",
    "no such system": "privatize trips.parquet --column route --edges none.csv --epsilon 1 --output out.parquet",
    "no such folder": f"{WORDS} --epsilon 1 --output nowhere/out.parquet",
    "no such ledger": f"{WORDS} --epsilon 1 --ledger none.db --output out.parquet",
    "a ledger that is none": f"{WORDS} --epsilon 1 --ledger roads.csv --output out.parquet",
    "the output exists": f"{WORDS} --epsilon 1 --output zones.txt",
    "unknown symbols": "privatize trips.parquet --column route --alphabet pages.txt --epsilon 1 --output out.parquet",
    "not Parquet": "privatize broken.parquet --column route --edges roads.csv --epsilon 1 --output out.parquet",
    "not a model": "synthesize pages.txt --count 1 --length 1 --output out.txt",
    "an edge file without columns": "compare --edges pages.txt --length 4 --epsilon 1",
    "a ledger that exists": "ledger init roads.csv --epsilon 1 --unit symbols --adjacency 1",
    "an unreadable model": "inspect none.json",
}


@pytest.mark.parametrize(
    ("code", "line"),
    [(2, line) for line in WRONG_USE.values()] + [(1, line) for line in FAILED_WORK.values()],
    ids=[*WRONG_USE, *FAILED_WORK],
)
def test_a_mistake_ends_with_a_message_and_nothing_is_written(folder, run, code, line):
    (folder / "broken.parquet").write_bytes(b"PAR1 but not really PAR1")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    ran = run(line)
    assert (ran.code, ran.out) == (code, "")
    assert ran.err.strip()
    assert "Traceback" not in ran.err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_bug_of_ours_is_not_dressed_up_as_a_mistake_of_the_user(run, monkeypatch):
    from pathveil.ledger.ledger import Ledger

    def broken(_path: object) -> Ledger:
        raise KeyError("a bug")

    monkeypatch.setattr(Ledger, "open", broken)
    with pytest.raises(KeyError):
        run("ledger show budget.db")
