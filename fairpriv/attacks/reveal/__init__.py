"""Attacks on a desk that answers bias queries."""
