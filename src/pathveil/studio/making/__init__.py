"""Making a release: which commands it takes, as a script too, and how they are run.

commands     the commands for what was chosen
script       the same in Python
processes    a command as a process of its own
releases     numbered releases: made once, taken up again after a crash
"""

from pathveil.studio.making.commands import (
    SINGLE_CHARACTERS,
    Command,
    command_for_curator,
    command_for_system,
    commands_for_release,
)
from pathveil.studio.making.processes import progress, run, try_lock
from pathveil.studio.making.releases import (
    Releases,
    State,
    charge_of,
    digest_of,
    private_folder,
    release_folder,
    release_number,
    why_lost,
)
from pathveil.studio.making.script import script_for

__all__ = [
    "SINGLE_CHARACTERS",
    "Command",
    "Releases",
    "State",
    "charge_of",
    "command_for_curator",
    "command_for_system",
    "commands_for_release",
    "digest_of",
    "private_folder",
    "progress",
    "release_folder",
    "release_number",
    "run",
    "script_for",
    "try_lock",
    "why_lost",
]
