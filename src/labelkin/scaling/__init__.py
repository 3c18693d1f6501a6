"""Blocks of documents, clusters and progress.

===============  ==================================================================
``blocks``       Blocks of documents whose results add up, and their files
``distributed``  ``OnDask``: the same blocks on a Dask cluster
``progress``     ``track``: progress of long loops
===============  ==================================================================
"""
