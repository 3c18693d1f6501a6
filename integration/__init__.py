"""labelkin inside the programs that people use: Annif and Label Studio, installed for real.

``make integration`` runs it; see ``docs/how-to/annif.md``.
"""
