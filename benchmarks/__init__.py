"""What labelkin costs, in ratios of CPU time to its alternatives: ``python -m benchmarks``."""
