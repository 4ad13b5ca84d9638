"""How words lie in files: one file here for each layout."""
