"""From compared systems to something a person reads.

===============  ==============================================================================
``comparison``   records: what every system scores, and how it stands to its baseline
``label_graph``  records: which labels attract or repel each other most, and where to draw them
``reading``      records → sentences, every number in them counted, none typed
``tables``       records → text, Markdown and HTML tables, and the scores as CSV
``plots``        records → SVG figures (needs matplotlib, extra ``plot``)
``page``         all of it → one HTML page that needs no other file and no other host
===============  ==============================================================================
"""
