"""Protocols: one file per experiment."""
