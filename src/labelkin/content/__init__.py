"""Content evidence, p(label | document): classifiers that return log-odds."""
