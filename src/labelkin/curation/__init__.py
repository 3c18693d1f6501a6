"""Curation: errors in labels, their corrections, and the documents to label next.

===================  ==============================================================
``audit``            ``LabelAudit``: wrong and missing labels of a labelled corpus
``next_documents``   The documents that are worth labelling next
``corrections``      Decisions of reviewers, applied to the labels of a corpus
``corrected_files``  A corrected corpus in the format in which it was read
===================  ==============================================================
"""
