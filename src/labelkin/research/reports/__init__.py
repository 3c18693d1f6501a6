"""Reports of stored runs: the paper's tables and plots, without training.

===========  ============================================================================
``results``  Result folders as records of scores, with the figures of the paper
``paper``    The paper's tables in its layout, its figures beside ours; files of a report
``tables``   Tables as Markdown and LaTeX
``plots``    Plots by matplotlib
===========  ============================================================================
"""
