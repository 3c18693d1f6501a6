"""Reports of stored runs: the paper's tables and plots, without training.

=============  ===========================================================================
``scores``     Records of scores, with the figures of the paper
``results``    Result folders as records of scores, with the data of the plots
``paper``      The paper's tables in its layout, its figures beside ours
``tables``     Tables as text, Markdown and LaTeX
``plots``      Plots by matplotlib
``documents``  The files of a report
=============  ===========================================================================
"""
