"""Explanations: contributions of labels and of terms, and the label graph."""
