"""Experiments that choose or justify a rule of the library; each writes the table of a page."""
