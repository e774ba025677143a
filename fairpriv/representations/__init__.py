"""Learned representations: networks, losses and training in JAX. JAX is heavy: import when a cell runs."""
