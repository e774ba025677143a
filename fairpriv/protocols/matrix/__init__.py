"""The matrix of attacks and defenses: who gives away what, and what is made of it."""
