"""Multilabel classification that listens to the other labels."""
