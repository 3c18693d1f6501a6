"""The HTTP service: suggestions for the page, for Annif's clients and for other programs.

===================  ===============================================================================
``serving``          ``create_app``, ``serve``, ``Limits``
``app``              the application: ``/api``, page, health, plugins of other packages
``annif``            ``/v1``: Annif's REST API
``guard``            checks of host, origin, token, size and time
``messages``         schemas of ``/api``, and problems
``answers``          a request → labels with the parts of their log-odds, reasons, the label map
``models``           served models
``running_service``  state shared by all requests: saved work, learning, review, metrics
===================  ===============================================================================

The application needs the extra ``labelkin[serve]``.
"""

from labelkin.service.serving import Limits, create_app, serve

__all__ = ["Limits", "create_app", "serve"]
