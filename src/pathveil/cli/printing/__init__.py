"""What commands say: progress, results, plots, and what those who may not read the input are not told."""

from pathveil.cli.printing.content import content_hidden
from pathveil.cli.printing.forecast import choice_as_json, echo_choice, require_consent
from pathveil.cli.printing.plots import PlotFile
from pathveil.cli.printing.progress import ProgressBar, waiting
from pathveil.cli.printing.results import (
    echo_cost,
    echo_json,
    echo_limited,
    echo_notice,
    echo_skipped,
    echo_tied,
    pass_messages_on,
)
from pathveil.cli.printing.sequences import (
    inspected_sequences,
    print_sequences,
    sequences_as_json,
    sequences_in_a_line,
)
from pathveil.cli.printing.spelling import with_options

__all__ = [
    "PlotFile",
    "ProgressBar",
    "choice_as_json",
    "content_hidden",
    "echo_choice",
    "echo_cost",
    "echo_json",
    "echo_limited",
    "echo_notice",
    "echo_skipped",
    "echo_tied",
    "inspected_sequences",
    "pass_messages_on",
    "print_sequences",
    "require_consent",
    "sequences_as_json",
    "sequences_in_a_line",
    "waiting",
    "with_options",
]
