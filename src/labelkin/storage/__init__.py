"""Model files that cannot execute code.

A model file holds arrays, and JSON that says how they are put together; there is no pickle in it.
Classes and functions are named, and only the names of a fixed table (``allowed``) are looked up.
:func:`save` refuses what it could not restore, :func:`load` whatever is damaged or not ours.

===============  ===================================================================================
``model_file``   the three verbs, and the description at the head of a file
``container``    the bytes: fixed header, description, model, arrays, checksum; written in one piece
``arrays``       arrays ↔ bytes
``encode``       objects → JSON and arrays
``refusal``      what cannot be stored, where it is, and the way out
``decode``       JSON and arrays → objects
``forms``        small objects that are plain data in disguise, such as a random state
``allowed``      the classes, functions and types a file may name
``checks``       what arrays and numbers must hold before compiled code is let loose on them
===============  ===================================================================================
"""

from labelkin.storage.file import ModelFile, VersionWarning, load, read_header, save

__all__ = ["ModelFile", "VersionWarning", "load", "read_header", "save"]
