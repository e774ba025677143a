"""Attacks: one file each."""
