"""`pathveil places`: from points to words of cells, and back onto the map."""

from pathveil.cli.places.commands import places

__all__ = ["places"]
