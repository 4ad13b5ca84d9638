"""What commands are told: the options that several of them share."""

from pathveil.cli.options.budget import echo_notice, fingerprint_of, open_ledger
from pathveil.cli.options.distance import edit_lengths, edit_mechanism
from pathveil.cli.options.input import input_files, rows_declared
from pathveil.cli.options.layout import chosen_layout
from pathveil.cli.options.mechanisms import MechanismName
from pathveil.cli.options.shared import *  # noqa: F403
from pathveil.cli.options.system import public_system, refuse_sensitive

__all__ = [
    "MechanismName",
    "chosen_layout",
    "echo_notice",
    "edit_lengths",
    "edit_mechanism",
    "fingerprint_of",
    "input_files",
    "open_ledger",
    "public_system",
    "refuse_sensitive",
    "rows_declared",
]
