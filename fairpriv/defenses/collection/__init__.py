"""Defenses that collect sensitive attributes: `collect` gives what the server sees."""
