"""Reports of stored runs: the paper's tables and plots, without training.

===========  =============================================================================
``results``  Result folders as records of scores, with the figures of the paper
``tables``   The paper's tables with its figures beside ours; Markdown, LaTeX, HTML and CSV
``plots``    Plots by matplotlib
===========  =============================================================================
"""
