"""The exponential draw P(w'|w) ∝ e^(-θ d(w, w')), its loops, and permute-and-flip by rejection from it."""

from pathveil.words.tilted.draw import block_size, draw_tilted, log_normaliser, words_for_each
from pathveil.words.tilted.exact import LARGEST_EXACT_DRAW, sampling
from pathveil.words.tilted.rejection import LARGEST_EXACT_FLIP, FlipByRejection

__all__ = [
    "LARGEST_EXACT_DRAW",
    "LARGEST_EXACT_FLIP",
    "FlipByRejection",
    "block_size",
    "draw_tilted",
    "log_normaliser",
    "sampling",
    "words_for_each",
]
