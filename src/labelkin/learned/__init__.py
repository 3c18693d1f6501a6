"""Learned label evidence, which extends the paper.

===============  ==============================================================
``weights``      The parameters: evidence weight, known weight, variant
``fitting``      The learned rule: calibration, one weight, one correction
``calibration``  Calibrated probabilities
``terms``        Posterior = content + terms
===============  ==============================================================
"""
