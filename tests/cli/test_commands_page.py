"""The commands on the page about the command line run, in the order of the page; test_recipes.py runs its recipes."""

from __future__ import annotations

import pytest

from tests.cli.recipes import other_commands


@pytest.mark.site
def test_the_examples_on_the_page_run(run):
    lines = other_commands()
    assert len(lines) >= 12
    for line in lines:
        ran = run(line)
        assert ran.code == 0, f"{line}\n{ran.err}"
