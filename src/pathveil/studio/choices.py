"""What was chosen so far: the fields of the forms, under the names of the options that they become."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

STEPS: Final = ("file", "public", "protected", "need", "amount", "review")
"""The steps in which something is chosen. `release` and the handing over follow."""

TITLES: Final = {
    "file": "Your file",
    "public": "What is public",
    "protected": "What is protected",
    "need": "What you need",
    "amount": "How much",
    "review": "Review",
    "release": "Release",
    "handover": "Hand over",
}

FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "file": (
        "input", "kind", "column", "separator", "case", "position", "symbol", "time-format", "latitude", "longitude",
        "user", "time", "gap",
    ),
    "public": ("world", "public-file", "symbols", "from", "to", "both-ways", "names", "bounds", "grid", "hexagons"),
    "protected": ("unit", "within", "max-length", "max-words-per-user", "neighbours"),
    "need": ("purpose", "count", "format", "times"),
    "amount": ("epsilon", "delta", "adjacency", "length", "words", "total-epsilon", "total-delta", "yes"),
    "review": (),
}  # fmt: skip

COLUMNS: Final = ("column", "case", "position", "symbol", "latitude", "longitude", "user", "time")
"""The fields that name a column of the sensitive file."""

UNSET: Final = ""
_OF_MANY_LINES = ("symbols",)


class Refusal(Exception):  # noqa: N818 - it is an answer, not a failure
    """A sentence for the person at the page, and the field beside which it stands ("" for the step as a whole)."""

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field, self.sentence = field, sentence


def step_of(field: str) -> str:
    """The step on which a field stands."""
    return next((step for step, fields in FIELDS.items() if field in fields), "file")


def _typed(name: str, text: str) -> str:
    """A field as it is kept. Forms send line ends as CR LF; no argument of a command can have a NUL in it."""
    kept = text.replace("\r\n", "\n").replace("\0", "")
    if name in COLUMNS:
        return kept  # whatever the column is called in the file
    if name not in _OF_MANY_LINES:
        kept = " ".join(kept.split("\n"))
    return kept.strip()


@dataclass
class Choices:
    """All fields as they were typed, and the steps that were gone through since something before them changed."""

    values: dict[str, str] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, UNSET)

    @property
    def next_step(self) -> str:
        """The first step that is not done."""
        return next((step for step in STEPS if step not in self.done), "review")

    def may_see(self, step: str) -> bool:
        """Whether everything before this step is done."""
        return all(before in self.done for before in STEPS[: STEPS.index(step)])

    def save(self, step: str, given: Mapping[str, str]) -> None:
        """Take over the fields of a step. What comes after it has to be looked at again if something has changed."""
        new = {name: _typed(name, given.get(name, UNSET)) for name in FIELDS[step]}
        changed = any(self[name] != value for name, value in new.items())
        self.values.update(new)
        place = STEPS.index(step)
        keep = STEPS[:place] if changed else STEPS
        self.done = [one for one in STEPS if (one in self.done and one in keep) or one == step]

    def reopen(self, step: str) -> None:
        """This step, and all after it, have to be looked at again."""
        self.done = [one for one in self.done if STEPS.index(one) < STEPS.index(step)]

    def whole(self, name: str, least: int, most: int, what: str) -> int:
        """A whole number between two others. From now on it stands there as commands read it: 1000 for 1,000."""
        value = int(self._number(name, int, least, most, what))
        self.values[name] = str(value)
        return value

    def number(self, name: str, least: float, most: float, what: str) -> float:
        """A number between two others. From now on it stands there as commands and Python read it."""
        value = self._number(name, float, least, most, what)
        if not re.fullmatch(r"(0|[1-9][0-9]*)(\.[0-9]+)?(e-?[0-9]+)?", self[name]):
            self.values[name] = repr(value)
        return value

    def _number(self, name: str, kind: Callable[[str], float], least: float, most: float, what: str) -> float:
        try:
            value = kind(self[name].replace("\N{NO-BREAK SPACE}", "").replace(",", "") if kind is int else self[name])
        except ValueError:
            value = None
        if value is None or not least <= value <= most:
            found = "nothing was given" if self[name] == UNSET else f"not {self[name]!r}"
            raise Refusal(name, f"{what}: a {'whole ' * (kind is int)}number from {least:g} to {most:g}, {found}.")
        return value

    def to_dict(self) -> dict[str, Any]:
        """For the file of the project."""
        return {"values": self.values, "done": self.done}

    @classmethod
    def from_dict(cls, content: Any) -> Choices:
        """What `to_dict` gave; unknown fields and steps are left out, and so is whatever else it may be."""
        values, done = (content.get("values"), content.get("done")) if isinstance(content, dict) else (None, None)
        known = {name for fields in FIELDS.values() for name in fields}
        kept = {name: text for name, text in values.items() if name in known} if isinstance(values, dict) else {}
        texts = {name: text for name, text in kept.items() if isinstance(text, str)}
        return cls(texts, [step for step in STEPS if isinstance(done, list) and step in done])
