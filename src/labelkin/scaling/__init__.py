"""Blocks of documents, clusters and progress.

===============  ==================================================================
``blocks``       Work on blocks of documents, whose results add up
``distributed``  ``OnDask``: the same work on a Dask cluster
``progress``     ``track``: how far long work is
===============  ==================================================================
"""
