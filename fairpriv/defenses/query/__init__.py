"""Defenses that answer bias queries: noise calibrated from group sizes and the budget."""
