"""Defenses that give away a representation: `fit`, then `encode`. JAX is imported when they train."""
