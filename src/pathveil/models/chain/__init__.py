"""A private Markov chain fitted to data (MCM Algorithm 2, with exact accounting, and two baselines).

The caller names the *unit*: what may change without anyone noticing.

- `"transition"`: the destination of one transition; where each transition starts, and hence the size of every row, is
  public. Rows are then separate parts of the data, a record sits in one of them, and the promise is that of the worst
  row. All mechanisms can do this.
- `"symbol"`: one symbol of one word. It takes records from two rows and gives them to two others, so row sizes are not
  fixed; noise goes on the whole table of counts. At most 4 counts change by 1 in all.
- `"word"`: one whole word of at most `max_length` symbols (L; longer words are cut): at most 2(L-1) in all.
- `"user"`: all words of one person, of which at most k are used (`models/people.py`): at most 2k(L-1).

For the last two, `neighbours="add-remove"` compares the data with and without the word, or the person, which is half of
it; how many there are is then private, too.

The Dirichlet mechanism covers the first unit only.

`fit` goes through the steps: `request` is what the caller asks for, checked before any data are looked at; `data` what
was counted; `forecast` the mechanism with the smallest error to expect; `noise` settles how much noise is needed and
draws it; `private_chain` is the model that comes out.
"""

from pathveil.models.chain.fit import fit_private_chain
from pathveil.models.chain.forecast import ErrorForecast, forecast_errors
from pathveil.models.chain.private_chain import PrivateChain, RowForecast, load_model
from pathveil.models.chain.request import PARTS, Mechanism, Request, Unit, checked_request

__all__ = [
    "PARTS",
    "ErrorForecast",
    "Mechanism",
    "PrivateChain",
    "Request",
    "RowForecast",
    "Unit",
    "checked_request",
    "fit_private_chain",
    "forecast_errors",
    "load_model",
]
