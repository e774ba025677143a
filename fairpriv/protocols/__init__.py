"""Protocols: one file an experiment."""
