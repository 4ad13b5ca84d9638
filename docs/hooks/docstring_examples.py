"""Examples in docstrings stand without fences, as is usual in Python; Markdown takes their prompts for quotations."""

from __future__ import annotations

import re
from typing import Any

import griffe

# A prompt at the beginning of a paragraph, up to the next blank line.
EXAMPLE = re.compile(r"(?m)^(?P<indent> *)>>> .*(?:\n(?!\s*$).*)*")


class DocstringExamples(griffe.Extension):
    """Puts a fence around every example in a docstring."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring and ">>> " in obj.docstring.value:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    """The same text with a fence around each paragraph that begins with a prompt."""
    return EXAMPLE.sub(lambda found: f"{found['indent']}```pycon\n{found[0]}\n{found['indent']}```", text)
