"""From compared systems to something a person reads.

==================  ===========================================================================
``comparison``      records: what every system scores, and how it stands to its baseline
``label_graph``     records: which labels attract or repel each other most, where to draw them
``reading``         records → sentences, every number in them counted, none typed
``tables``          records → text, Markdown and HTML tables, and the scores as CSV
``plots``           records → SVG figures (needs matplotlib, extra ``plot``)
``page``            all of it → one HTML page that needs no other file and no other host
==================  ===========================================================================

The paper's tables, from a result folder:

==================  ===========================================================================
``paper``           the paper's own numbers
``outcome``         result folder → records: every score, its baseline's, the paper's (``scores``)
``paper_tables``    records → label-based, and example-based and ranking tables
``summaries``       records → how often an addition is better, and how often worse
``further_tables``  records → metrics and intervals beyond the paper's
``agreement``       records → where an addition raises F1 as in the paper, and where not
``documents``       tables → Markdown, CSV and LaTeX (``latex``)
``paper_page``      tables and pictures (``paper_plots``) → one HTML page
``results``         ``report_results``: all of these files
``reproduction``    ``write_reproduction``: several folders → ``docs/reproduction.md``
==================  ===========================================================================
"""
