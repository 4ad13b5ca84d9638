"""From files to checked words: codes of the public system, and what is wrong with the rest."""
