"""The privacy budget: a file that says what was promised so far, and refuses what would be too much."""
