"""The exponential draw P(w'|w) ∝ e^(-θ d(w, w')), its loops, and permute-and-flip by rejection from it."""

from pathveil.words.tilted.draw import LAST_WORD, block_size, draw_tilted, log_normaliser, redraw_unowned, shares
from pathveil.words.tilted.exact import LARGEST_EXACT_DRAW, sampling
from pathveil.words.tilted.rejection import LARGEST_EXACT_FLIP, FlipByRejection

__all__ = [
    "LARGEST_EXACT_DRAW",
    "LARGEST_EXACT_FLIP",
    "LAST_WORD",
    "FlipByRejection",
    "block_size",
    "draw_tilted",
    "log_normaliser",
    "redraw_unowned",
    "sampling",
    "shares",
]
