"""Attacks on what people give away of themselves: LDP reports, representations."""
