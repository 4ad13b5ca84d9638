"""Models of several groups, and what was promised about all of them together."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pathveil.errors import InvalidParameterError, InvalidSystemError
from pathveil.models.sequences.private_sequences import PrivateSequences
from pathveil.privacy.guarantee import Guarantee
from pathveil.randomness.source import RandomSource, checked_source
from pathveil.systems.chain_file import decoded, encoded
from pathveil.systems.system import Symbol, Word

FORMAT = "pathveil sequences by group"
_VERSION = 1


def is_by_group(document: object) -> bool:
    """Does this JSON say that it holds models of several groups?"""
    return isinstance(document, dict) and document.get("format") == FORMAT


@dataclass(frozen=True, eq=False)
class PrivateSequencesByGroup:
    """A model for each group: `found["east"]` is that of the group "east"."""

    models: dict[Hashable, PrivateSequences]
    guarantee: Guarantee
    """The promise about all models together. Each of them carries it, too."""

    def __getitem__(self, group: Hashable) -> PrivateSequences:
        if group not in self.models:
            raise InvalidParameterError(f"there is no group {group!r}; there are {', '.join(map(repr, self.models))}")
        return self.models[group]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.models)

    def __len__(self) -> int:
        return len(self.models)

    @property
    def states(self) -> tuple[Symbol, ...]:
        """The states, which all models share."""
        return next(iter(self.models.values())).states

    def to_json(self, promise: Guarantee | None = None) -> str:
        """All models as text; `promise` is what was promised about the file, if that is more than the guarantee."""
        told = promise or self.guarantee
        models = [
            {"group": encoded(group), "model": json.loads(model.to_json(told))} for group, model in self.models.items()
        ]
        document = {"format": FORMAT, "version": _VERSION, "guarantee": told.to_dict(), "groups": models}
        return json.dumps(document, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> PrivateSequencesByGroup:
        """The models from the object that JSON made of what `to_json` wrote.

        Raises `InvalidSystemError` where it is something else, or damaged.
        """
        if not is_by_group(document) or document.get("version") != _VERSION:
            raise InvalidSystemError(f"this JSON is not a file of the format {FORMAT!r}, version {_VERSION}")
        listed = document.get("groups")
        if not isinstance(listed, list) or not all(
            isinstance(one, dict) and {*one} == {"group", "model"} for one in listed
        ):
            raise InvalidSystemError("the saved models of groups are damaged: a group and its model are needed each")
        models: dict[Hashable, PrivateSequences] = {
            decoded(one["group"], f"group number {i + 1}"): PrivateSequences.from_json(one["model"])
            for i, one in enumerate(listed)
        }
        # Of the same states all: whatever reads the first for all may rely on it.
        if not models or len(models) < len(listed) or len({model.states for model in models.values()}) > 1:
            raise InvalidSystemError("the saved models of groups are damaged: there is none, or a group is there twice")
        try:
            return cls(models, Guarantee.from_dict(document["guarantee"]))
        except (KeyError, TypeError, ValueError):
            raise InvalidSystemError("the saved models of groups are damaged: there is no guarantee") from None

    def save(self, path: str | Path) -> None:
        """Write all models to a file that `pv.load_model` and `pathveil synthesize` read."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    @property
    def sizes(self) -> dict[Hashable, float]:
        """How many words each group has, with noise: which words belong to a group is private."""
        return {group: model.word_count for group, model in self.models.items()}

    def synthesize(
        self, counts: Mapping[Hashable, int] | None = None, rng: RandomSource | None = None
    ) -> dict[Hashable, list[Word]]:
        """So many synthetic words of each group that `counts` names; without it as many as `sizes` says."""
        source = checked_source(rng)
        wanted = {group: round(size) for group, size in self.sizes.items()} if counts is None else counts
        models = {group: self[group] for group in wanted}
        return {
            group: [] if wanted[group] == 0 else model.synthesize(wanted[group], source)
            for group, model in models.items()
        }
