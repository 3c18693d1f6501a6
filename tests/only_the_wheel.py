"""Fit and predict where only the wheel is installed: python -I tests/only_the_wheel.py."""

import importlib.util

import labelkin

assert "site-packages" in labelkin.__file__, labelkin.__file__
assert importlib.util.find_spec("numba") is None, "numba is an extra: it should be out of sight"
model = labelkin.LabelDependenceClassifier(content=labelkin.NaiveBayes())
model.fit([[2, 0], [0, 2], [1, 1]], [["a"], ["b"], ["a", "b"]])
print(model.label_sets(model.predict([[3, 0]])), labelkin.__version__)
