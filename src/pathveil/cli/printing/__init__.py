"""What commands say: progress, results, and what those who may not read the input are not told."""

from pathveil.cli.printing.content import content_hidden
from pathveil.cli.printing.progress import ProgressBar, waiting
from pathveil.cli.printing.results import echo_cost, echo_json, echo_skipped

__all__ = ["ProgressBar", "content_hidden", "echo_cost", "echo_json", "echo_skipped", "waiting"]
