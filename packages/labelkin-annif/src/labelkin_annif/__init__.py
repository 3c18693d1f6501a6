"""labelkin as a backend of Annif, of its ensemble kind: ``backend=labelkin`` in a project.

Annif looks a backend up in a table of its own and has no place for others to add to it. Importing
this package adds one line to that table. What imports it is Annif's own configuration,

    export ANNIF_CONFIG=labelkin_annif.Config

which every command and the web application of Annif read at their start; or ``labelkin-annif``,
which is ``annif`` with this set. Nothing of Annif is replaced, and no other program is touched.
"""

import os
from typing import TYPE_CHECKING

import annif.backend
from annif import default_config

if TYPE_CHECKING:
    from labelkin_annif.backend import LabelkinBackend

__all__ = ["Config", "register"]

#: What ``backend=`` says in the configuration of a project.
BACKEND_ID = "labelkin"


class Config(default_config.Config):
    """Annif's own settings, whichever it takes where none are named; the backend is registered.

    A command loads the projects that it needs, and a server all of them, at its start.
    """

    INITIALIZE_PROJECTS = os.environ.get("FLASK_RUN_FROM_CLI") != "true"


def register() -> None:
    """Have Annif find the backend; doing so again changes nothing."""
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
