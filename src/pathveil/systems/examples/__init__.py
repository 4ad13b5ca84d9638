"""Made-up street networks to try things out on: a town of 43 segments, and cities of any size."""

from pathveil.systems.examples.city import example_city
from pathveil.systems.examples.town import example_town, town_segments

__all__ = ["example_city", "example_town", "town_segments"]
