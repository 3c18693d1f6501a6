"""Content evidence, p(label | document): classifiers whose log-odds the method starts from."""
