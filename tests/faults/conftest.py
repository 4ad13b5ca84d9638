"""The same small files and the same way to run commands as for the other tests of the command line."""

from tests.cli.conftest import folder, run

__all__ = ["folder", "run"]
