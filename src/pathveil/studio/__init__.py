"""The guided web page: from a file to a release, in the browser of whoever holds the data.

The studio decides nothing about privacy. Each step collects options of commands (`choices`), the review shows the
commands (`commands`), and a release runs them, one after the other, as processes of their own (`releases`). So whatever
the studio does can be copied and done again without it, and what it releases went through `release/` like everything
else. Forecasts come from `planning/`.
"""

from pathveil.studio.server import serve

__all__ = ["serve"]
