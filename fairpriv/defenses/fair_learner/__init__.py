"""Defenses that train a fair model: `fit` gives what is released."""
