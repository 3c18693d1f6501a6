"""What labelkin costs, as ratios of CPU time to the usual alternatives: ``python -m benchmarks``."""
