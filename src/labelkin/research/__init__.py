"""Research: experiments, their reports, related methods and the demo.

===============  ===================================================================
``experiments``  Experiments from TOML files, stored in folders and resumed
``reports``      Tables, sentences, plots and pages from stored runs
``related``      Related methods for comparison: chains, stacking, trees and others
``demo``         ``labelkin demo``: a comparison on the synthetic newsroom
===============  ===================================================================
"""
