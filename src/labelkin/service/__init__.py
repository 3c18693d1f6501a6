"""The HTTP service: suggestions for the page, for Annif's clients and other programs.

===================  ===============================================================================
``serving``          ``create_app``, ``serve``: models → an application, an address; the bounds
``app``              the application put together, the page, and /api: suggestions that respond to
                     accepted and rejected labels, and why
``connections``      how many there may be, and how long a header may take
``guard``            hosts, origins, the token, the body's size
``messages``         what /api takes and answers; problem+json
``annif``            /v1: Annif's REST API
``health``           /health, /ready, /metrics: what is counted
``answers``          a request → labels with the parts of their log-odds, reasons, the label map
``models``           a model that is served, and how it learns from the journal
``journal``          labelled documents and answers to issues, durable before the answer;
                     ``read_journal`` and ``read_answers`` to train on them
``journal_upkeep``   journals checked, recovered, backed up and exported
``review``           the issues of an audit, one after another, and what people say of them
``running_service``  models, journals, learning, the review and worker threads together
``work``             worker threads; suggestions that wait for a model share one call
===================  ===============================================================================

Only ``labelkin[serve]`` brings what the application needs; what reads journals works without.
"""

from labelkin.service.journal import JournalDocuments, read_answers, read_journal
from labelkin.service.serving import Limits, create_app, serve

__all__ = ["JournalDocuments", "Limits", "create_app", "read_answers", "read_journal", "serve"]
