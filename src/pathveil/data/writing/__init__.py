"""From private words to files that appear when they are complete, with a manifest beside them."""
