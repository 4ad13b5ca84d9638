"""Models of several groups, and what was promised about all of them together."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass

from pathveil.errors import InvalidParameterError
from pathveil.models.sequences.private_sequences import PrivateSequences
from pathveil.privacy.guarantee import Guarantee
from pathveil.randomness.source import RandomSource, checked_source
from pathveil.systems.system import Word


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
