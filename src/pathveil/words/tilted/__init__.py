"""The exponential draw P(w'|w) ∝ e^(-θ d(w, w')), its loops, and permute-and-flip by rejection from it."""

from pathveil.words.tilted.draw import block_size, draw_tilted, log_normaliser
from pathveil.words.tilted.exact import LARGEST_EXACT_DRAW, sampling
from pathveil.words.tilted.rejection import LARGEST_EXACT_FLIP, FlipByRejection
from pathveil.words.tilted.response import LAST_VALUE, keystream_values_per_symbol, redraw_unowned

__all__ = [
    "LARGEST_EXACT_DRAW",
    "LARGEST_EXACT_FLIP",
    "LAST_VALUE",
    "FlipByRejection",
    "block_size",
    "draw_tilted",
    "keystream_values_per_symbol",
    "log_normaliser",
    "redraw_unowned",
    "sampling",
]
