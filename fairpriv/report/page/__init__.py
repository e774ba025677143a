"""The parts of the report: names a reader knows, rounded numbers, pictures, overview, tables."""
