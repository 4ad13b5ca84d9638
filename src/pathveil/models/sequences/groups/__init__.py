"""One private model of sequences for each value of a public grouping, under one promise for all of them together."""

from pathveil.models.sequences.groups.grouped_fit import fit_private_sequences_by_group
from pathveil.models.sequences.groups.grouped_model import PrivateSequencesByGroup, is_by_group

__all__ = ["PrivateSequencesByGroup", "fit_private_sequences_by_group", "is_by_group"]
