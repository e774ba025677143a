"""Attacks that learn the sensitive attribute on a set where it is known, and guess it elsewhere."""
