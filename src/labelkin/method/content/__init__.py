"""Content evidence, p(label | document): one module for each way to get it."""
