"""Private words: one private word for one sensitive word."""
