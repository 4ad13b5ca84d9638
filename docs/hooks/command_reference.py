"""The page about every option of every command, from the commands themselves."""

from __future__ import annotations

import re

import typer
from typer.cli import get_docs_for_click

from pathveil.cli.commands import app

INTRODUCTION = """# Command reference

Every command with all its options, made from the program itself: what `pathveil COMMAND --help` says, on one page. How
to use them together stands on the page about [the commands](commands.md).
"""


def command_reference() -> str:
    """Markdown for all commands."""
    root = typer.main.get_command(app)
    text = get_docs_for_click(obj=root, ctx=typer.Context(root, info_name="pathveil"), name="pathveil")
    # The help marks examples as bold for a terminal; on a page they are code.
    text = re.sub(r"\[bold\](.*?)\[/bold\]", lambda found: f"`{found[1]}`", text, flags=re.DOTALL)
    _title, _, commands = text.partition("\n")
    return INTRODUCTION + commands
