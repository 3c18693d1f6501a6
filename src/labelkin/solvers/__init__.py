"""Solvers: logistic regression, sigmoid fits, linear SVMs, cosine search."""
