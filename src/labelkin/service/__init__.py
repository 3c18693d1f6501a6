"""The service: suggestions over HTTP, for Annif's clients, our own page and other programs.

===================  ===============================================================================
``serving``          ``create_app``, ``serve``: models → an application, an address
``app``              the application put together
``own_routes``       /api: suggestions that react to accepted and refused labels, and why
``annif``            /v1: Annif's REST API (``annif_messages``)
``upkeep_routes``    /health, /ready, /metrics, and the page
``messages``         what our own routes take and answer
``statements``       what a request says of a document, checked
``suggesting``       text → ranked labels with the parts of their log-odds
``explaining``       text and label → which words and labels speak for and against it
``label_lists``      labels searched, related, drawn
``models``           a model that is served
``running_service``  models, journals and threads together
``journal``          labelled documents, durable before the answer
``journal_file``     the SQLite file; ``read_journal`` to train on it
``learning``         the label evidence learns from the journal, in the background
``workshop``         work off the event loop, bounded
``guard``            hosts, origins, the token, the body's size (``addresses``)
``limits``           the bounds
``problems``         problem+json
``telemetry``        what is counted
===================  ===============================================================================

Only ``labelkin[serve]`` brings what the application needs; ``read_journal`` works without.
"""

from labelkin.service.journal_file import JournalDocuments, read_journal
from labelkin.service.limits import Limits
from labelkin.service.serving import create_app, serve

__all__ = ["JournalDocuments", "Limits", "create_app", "read_journal", "serve"]
