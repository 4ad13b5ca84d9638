"""What was chosen so far: the fields of the forms, under the names of the options that they become."""

from __future__ import annotations

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

UNSET: Final = ""


class Refusal(Exception):  # noqa: N818 - it is an answer, not a failure
    """A sentence for the person at the page, and the field beside which it stands ("" for the step as a whole)."""

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field, self.sentence = field, sentence


def step_of(field: str) -> str:
    """The step on which a field stands."""
    return next((step for step, fields in FIELDS.items() if field in fields), "file")


@dataclass
class Choices:
    """All fields as they were typed, and the steps that were gone through since something before them changed."""

    values: dict[str, str] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, UNSET)

    def __bool__(self) -> bool:
        return bool(self.values)

    @property
    def next_step(self) -> str:
        """The first step that is not done."""
        return next((step for step in STEPS if step not in self.done), "review")

    def may_see(self, step: str) -> bool:
        """Whether everything before this step is done."""
        return all(before in self.done for before in STEPS[: STEPS.index(step)])

    def save(self, step: str, given: Mapping[str, str]) -> None:
        """Take over the fields of a step. What comes after it has to be looked at again if something has changed."""
        new = {name: given.get(name, UNSET).strip() for name in FIELDS[step]}
        changed = any(self[name] != value for name, value in new.items())
        self.values.update(new)
        place = STEPS.index(step)
        keep = STEPS[:place] if changed else STEPS
        self.done = [one for one in STEPS if (one in self.done and one in keep) or one == step]

    def reopen(self, step: str) -> None:
        """This step, and all after it, have to be looked at again."""
        self.done = [one for one in self.done if STEPS.index(one) < STEPS.index(step)]

    def whole(self, name: str, least: int, most: int, what: str) -> int:
        """A whole number between two others."""
        return int(self._number(name, int, least, most, what))

    def number(self, name: str, least: float, most: float, what: str) -> float:
        """A number between two others."""
        return self._number(name, float, least, most, what)

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
    def from_dict(cls, content: Mapping[str, Any]) -> Choices:
        """What `to_dict` gave; unknown fields and steps are left out."""
        known = {name for fields in FIELDS.values() for name in fields}
        values = {str(k): str(v) for k, v in dict(content.get("values", {})).items() if k in known}
        return cls(values, [step for step in STEPS if step in content.get("done", ())])
