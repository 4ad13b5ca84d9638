"""Checking claims: what a mechanism's privacy loss really is."""
