"""The exponential draw P(w'|w) ∝ e^(-θ d(w, w')), its loops, and permute-and-flip by rejection from it."""

from pathveil.words.tilted.draw import (
    block_size,
    draw_tilted,
    local_edges,
    local_reach,
    log_normaliser,
    may_be_local,
)
from pathveil.words.tilted.engines import lane_messages, lanes_fit
from pathveil.words.tilted.exact import LARGEST_EXACT_DRAW, sampling
from pathveil.words.tilted.reachable_states import ReachableStates
from pathveil.words.tilted.rejection import LARGEST_EXACT_FLIP, FlipByRejection, Surroundings, flip_reach
from pathveil.words.tilted.rejection_exact import ExactComparisons
from pathveil.words.tilted.response import LAST_VALUE, keystream_values_per_symbol, redraw_unowned

__all__ = [
    "LARGEST_EXACT_DRAW",
    "LARGEST_EXACT_FLIP",
    "LAST_VALUE",
    "ExactComparisons",
    "FlipByRejection",
    "ReachableStates",
    "Surroundings",
    "block_size",
    "draw_tilted",
    "flip_reach",
    "keystream_values_per_symbol",
    "lane_messages",
    "lanes_fit",
    "local_edges",
    "local_reach",
    "log_normaliser",
    "may_be_local",
    "redraw_unowned",
    "sampling",
]
