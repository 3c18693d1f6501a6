"""labelkin as an ensemble backend of Annif: ``backend=labelkin`` in a project.

Annif has no extension point for backends. Importing this package adds one to Annif's table; the
setting

    export ANNIF_CONFIG=labelkin_annif.Config

makes every command and the web application of Annif import it at their start.
"""

import os
from typing import TYPE_CHECKING

import annif.backend
from annif import default_config

if TYPE_CHECKING:
    from labelkin_annif.backend import LabelkinBackend

__all__ = ["Config", "register"]

#: Value of ``backend=`` in the configuration of a project.
BACKEND_ID = "labelkin"


class Config(default_config.Config):
    """Annif's default settings.

    A command loads the projects that it needs; a server loads all projects at its start.
    """

    INITIALIZE_PROJECTS = os.environ.get("FLASK_RUN_FROM_CLI") != "true"


def register() -> None:
    """Add the backend to Annif's table."""
    table = getattr(annif.backend, "_backend_fns", None)
    if not isinstance(table, dict):
        raise ImportError(
            "labelkin-annif registers itself in annif.backend._backend_fns, and this version of "
            "Annif has no such table. Install Annif 1.4, or a newer labelkin-annif."
        )
    table[BACKEND_ID] = _backend


def _backend() -> "type[LabelkinBackend]":
    """Return the class, imported when a project asks for it, as Annif does with its own."""
    from labelkin_annif.backend import LabelkinBackend

    return LabelkinBackend


register()
