"""``labelkin-annif``: the command ``annif``, with the backend of this package registered."""

import os


def main() -> None:
    """Run Annif's command line; settings that were chosen are kept."""
    os.environ.setdefault("ANNIF_CONFIG", "labelkin_annif.Config")
    from annif.cli import cli

    import labelkin_annif

    labelkin_annif.register()
    cli(prog_name="labelkin-annif")
