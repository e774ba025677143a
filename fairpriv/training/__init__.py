"""Training by gradient in JAX. Import these modules where a cell runs, not before: JAX takes a second to load."""
