"""Stamps: what a finished cell was computed from, so that it is known when it still holds (code, data, packages)."""
