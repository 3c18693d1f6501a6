"""Numerical routines that know no labels: logistic fits, sigmoids, linear SVMs, cosine search."""
