"""Model files that execute no code when they are loaded.

A model file contains arrays, and JSON that states how they belong together; it has no pickle.
Classes and functions have names of their own there ("NaiveBayes"), and only those of one table
are looked up. :func:`save` raises for what it could not restore, :func:`load` for whatever is
damaged or not ours.

===========  =======================================================================================
``file``     the three verbs; the bytes: fixed header, description, model, arrays, checksum
``codec``    values ↔ JSON and arrays
``trusted``  what a file may name, and what arrays must hold before compiled code sees them
===========  =======================================================================================
"""

from typing import TYPE_CHECKING, Any

from labelkin.storage.file import ModelFile, load, read_header, save

if TYPE_CHECKING:
    from labelkin.storage.trusted import VersionWarning

__all__ = ["ModelFile", "VersionWarning", "load", "read_header", "save"]


def __getattr__(name: str) -> Any:
    """Import what needs scikit-learn when it is asked for: a header is read without it."""
    if name != "VersionWarning":
        raise AttributeError(f"module 'labelkin.storage' has no attribute {name!r}")
    from labelkin.storage.trusted import VersionWarning

    return VersionWarning
