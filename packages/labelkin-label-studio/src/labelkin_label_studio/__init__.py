"""Label Studio's protocol for models, as routes of ``labelkin serve``.

=============  ===================================================================
``routes``     ``/label-studio/MODEL``: suggestions for tasks, annotations to save
``interface``  the choices of a labelling interface, and the labels they stand for
=============  ===================================================================
"""

from labelkin_label_studio.routes import router

__all__ = ["router"]
