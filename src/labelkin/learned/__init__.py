"""Learned label evidence: what is not in the paper."""
