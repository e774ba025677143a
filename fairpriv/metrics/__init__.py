"""Metrics: fairness, leakage."""
