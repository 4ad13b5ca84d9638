"""What commands say: progress, results, plots, and what those who may not read the input are not told."""

from pathveil.cli.printing.content import content_hidden
from pathveil.cli.printing.forecast import choice_as_json, echo_choice, require_consent
from pathveil.cli.printing.plots import PlotFile
from pathveil.cli.printing.progress import ProgressBar, waiting
from pathveil.cli.printing.results import echo_cost, echo_json, echo_limited, echo_notice, echo_skipped, echo_tied
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
    "require_consent",
    "waiting",
    "with_options",
]
