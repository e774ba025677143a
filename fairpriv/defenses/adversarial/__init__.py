"""Defenses that train against an adversary. Modules that use JAX are imported where a cell runs: it takes a second."""
