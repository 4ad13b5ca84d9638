"""What the library calls an argument is an option on the command line.

Messages of errors name arguments in backticks, as one writes them in Python: `overwrite=True`, `on_bad_row="skip"`.
Whoever runs a command is told --overwrite and --on-bad-row skip. What stands in files is quoted in other ways.
"""

from __future__ import annotations

import re

OPTIONS = {
    **{
        name: "--" + name.replace("_", "-")
        for name in (
            "adjacency", "cap", "case", "column", "count", "delta", "ends", "epsilon", "first", "format", "group",
            "joiner", "keep", "last", "length", "lengths", "max_length", "max_steps", "max_words_per_user", "mechanism",
            "neighbours", "on_bad_row", "on_infeasible", "order", "overwrite", "prefix", "rewards", "separator",
            "split", "states", "support", "symbol", "ties", "time_format", "unit", "user", "week", "within",
        )
    },
    "each": "--each-epsilon and --each-delta",
    "header": "--no-header",
    "max_words": "--max-words-per-user",
    "group_values": "--groups",
    "times": "--time",
    "episodes": "--episode",
    "users": "--user",
}  # fmt: skip
"""How the command line spells arguments that messages may name."""

_ARGUMENT = re.compile(r"`([a-z_]+)(=[^`]*)?`")


def with_options(message: str) -> str:
    """The message with options in place of arguments.

    >>> with_options('Choose another name, or say that it may be replaced (`overwrite=True`).')
    'Choose another name, or say that it may be replaced (--overwrite).'
    >>> with_options('give `lengths=(lo, hi)`, or `unit="word"` and a `max_length`')
    'give --lengths lo:hi, or --unit word and a --max-length'
    """
    return _ARGUMENT.sub(lambda found: _option(found[0], found[1], (found[2] or "=")[1:]), message)


def _option(whole: str, name: str, value: str) -> str:
    if name not in OPTIONS:
        return whole
    if name == "each" or value in ("", "True", "False"):
        return OPTIONS[name]
    if value.startswith("("):
        value = value.strip("()").replace(", ", ":")
    return f"{OPTIONS[name]} {value.strip(chr(34))}"
