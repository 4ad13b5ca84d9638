"""The page about the papers: every claim has a command that runs, every name exists, and no number is missing."""

from __future__ import annotations

import ast
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import pathveil as pv

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")

# How many of each kind a paper has, counted in the papers.
NUMBERED = {
    "PF": {
        "Definition": 6,
        "Problem": 4,
        "Lemma": 1,
        "Mechanism": 2,
        "Theorem": 3,
        "Algorithm": 2,
        "Equation": 13,
        "Figure": 5,
    },
    "LEV": {"Definition": 13, "Remark": 2, "Problem": 3, "Lemma": 1, "Algorithm": 2, "Equation": 19, "Figure": 5},
    "MDM": {
        "Definition": 6,
        "Assumption": 3,
        "Problem": 3,
        "Lemma": 4,
        "Theorem": 3,
        "Equation": 41,
        "Figure": 3,
    },
    "MCM": {
        "Definition": 8,
        "Assumption": 6,
        "Example": 1,
        "Problem": 4,
        "Lemma": 8,
        "Theorem": 5,
        "Corollary": 1,
        "Algorithm": 2,
        "Equation": 33,
        "Figure": 4,
        "Table": 1,
    },
}


def lines_of_table(section: str) -> list[str]:
    """The rows of the table in a section, without its head."""
    found = re.search(rf"^## {section}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found
    return [line for line in found[1].splitlines() if line.startswith("|")][2:]


def rows(paper: str) -> list[list[str]]:
    """The cells of each row of a paper's table."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines_of_table(paper)]


ROWS = [row for paper in NUMBERED for row in rows(paper)]


def numbers(items: str) -> list[tuple[str, int]]:
    """`Lemma 4, Equations (2)–(3) ✗` is three items: ("Lemma", 4), ("Equation", 2) and ("Equation", 3)."""
    numbered = []
    for item in items.removesuffix(" ✗").split(", "):
        found = re.fullmatch(r"(\w+?)s? \(?(\d+)\)?(?:–\(?(\d+)\)?)?", item)
        assert found, items
        kind, first, last = found[1], int(found[2]), int(found[3] or found[2])
        numbered += [(kind, number) for number in range(first, last + 1)]
    return numbered


@pytest.mark.parametrize("paper", NUMBERED)
def test_every_numbered_item_of_a_paper_is_listed_once(paper):
    listed = [one for row in rows(paper) for one in numbers(row[0])]
    wanted = [(kind, number) for kind, count in NUMBERED[paper].items() for number in range(1, count + 1)]
    assert sorted(listed) == sorted(wanted)


def test_the_number_of_an_item_is_read_as_it_is_written():
    assert numbers("Lemma 4, Equations (2)–(3) ✗") == [("Lemma", 4), ("Equation", 2), ("Equation", 3)]
    assert numbers("Figure 1") == [("Figure", 1)]


@cache
def defined_in(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def resolve(name: str) -> object:
    """What a dotted name stands for: the longest part that is a module, then attributes."""
    if name.startswith("pv."):
        found: object = pv
        rest = name.split(".")[1:]
    else:
        module, _, last = name.rpartition(".")
        found, rest = import_module(module), [last]
    for part in rest:
        found = getattr(found, part)
    return found


def test_every_named_function_exists():
    for _item, here, _test in ROWS:
        names = re.findall(r"`([^`]+)`", here)
        assert names
        for name in names:
            path, _, defined = name.partition("::")
            assert defined in defined_in(path) if defined else resolve(name) is not None, name


def test_a_name_that_does_not_exist_is_noticed():
    with pytest.raises(AttributeError):
        resolve("pv.published.mcm_lemma_9_bound")


def test_every_named_test_exists():
    for item, _here, test in ROWS:
        [node] = re.findall(r"`([^`]+)`", test)
        path, _, name = node.partition("::")
        assert name in defined_in(f"tests/{path}"), f"{item}: {node}"


def test_every_claim_has_a_command():
    claims = lines_of_table("Claims that fail, or hold loosely")
    assert len(claims) > 10
    for claim in claims:
        assert re.search(r"`(pytest|python -c) [^`]+` \|$", claim), claim


@pytest.mark.parametrize("node", sorted(set(re.findall(r"`pytest ([^`]+)`", PAGE))))
def test_the_test_of_a_claim_exists(node):
    path, _, name = node.partition("::")
    assert name in defined_in(path) if name else (ROOT / path).is_file()


@pytest.mark.parametrize("code", re.findall(r'`python -c "([^`]+)"`', PAGE))
def test_the_one_liners_run(code, capsys):
    exec(code, {})
    assert capsys.readouterr().out.strip()
