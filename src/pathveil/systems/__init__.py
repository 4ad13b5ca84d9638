"""Public systems: which words could have been produced."""
