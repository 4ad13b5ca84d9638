"""What can be said of a picture without looking at it."""

from __future__ import annotations

from pathlib import Path


def assert_is_picture(path: Path) -> None:
    """It can be read, is no thumbnail, and has both white and black in it."""
    from matplotlib.image import imread

    pixels = imread(path)[..., :3]
    assert min(pixels.shape[:2]) > 300
    assert pixels.max() > 0.99
    assert pixels.min() < 0.01
