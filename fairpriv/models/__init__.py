"""Models that protocols train: one file each."""
