"""`pathveil system`: one file for a public system, from wherever it lies."""

from pathveil.cli.system.commands import system_app

__all__ = ["system_app"]
