"""Where randomness comes from, and how it becomes draws."""
