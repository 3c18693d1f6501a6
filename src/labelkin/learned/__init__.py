"""Learned label evidence, which extends the paper.

===============  ==============================================================
``fitting``      The learned rule: its parameters, and the three steps of fitting
``calibration``  Calibrated probabilities
``terms``        Posterior = content + terms
===============  ==============================================================
"""
