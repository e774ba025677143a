"""Attacks on the value of one attribute, of two or many values, of each person."""
