"""Reports: stored runs → the paper's tables, sentences, plots and a page; nothing is trained.

::

    scores      the record: a row per corpus, system, metric and seed, the paper's figure with it
    results     a result folder, or log-odds at hand → rows, and what plots need beside them
    paper       rows → the paper's tables in its own layout, its figures beside ours
    tables      tables as text, Markdown, LaTeX and CSV
    sentences   rows → plain sentences
    plots       rows → SVG
    page        all of it → one HTML page
    documents   a result folder → the files of its report
"""
