"""Model files that execute no code when they are loaded.

A model file contains arrays, and JSON that describes the objects; it has no pickle. Classes and
functions have separate names there ("NaiveBayes"), and only those of one table are looked up.
:func:`save` raises an error for objects it could not restore, :func:`load` for files that are
damaged or not model files.

============  ======================================================================================
``file``      ``save``, ``load``, ``read_header``; header, description, model, arrays, checksum
``codec``     Objects and their parts ↔ JSON and arrays; encoders of each type of value
``trusted``   Classes that a file may name, and checks before compiled code uses arrays
============  ======================================================================================
"""

from labelkin.storage.file import ModelFile, load, read_header, save

__all__ = ["ModelFile", "load", "read_header", "save"]
