"""Releases: charge → draw → seal → publish → complete, in this order and in one place.

    Release            the five steps as a context manager, for whatever is released
    release_words      one private word for each word of some files, by this process or by Spark
    release_model      one private chain, model of sequences or decision process for all words or steps of some files
    release_synthetic  words drawn from a saved private model, which cost nothing

Commands parse and print; everything that decides what may appear, and when, is here.
"""

from pathveil.release.decision_choices import DecisionChoices
from pathveil.release.destinations import files_to_write, refuse_inputs
from pathveil.release.model import ReleasedModel, release_model
from pathveil.release.model_choices import ModelChoices, SequenceChoices
from pathveil.release.release import Release
from pathveil.release.runners import Runner, runner_for
from pathveil.release.synthetic import SyntheticChoices, release_synthetic
from pathveil.release.words import WordChoices, release_words

__all__ = [
    "DecisionChoices",
    "ModelChoices",
    "Release",
    "ReleasedModel",
    "Runner",
    "SequenceChoices",
    "SyntheticChoices",
    "WordChoices",
    "files_to_write",
    "refuse_inputs",
    "release_model",
    "release_synthetic",
    "release_words",
    "runner_for",
]
