"""Files to be written: what must not be overwritten is refused before the work."""

from __future__ import annotations

from pathlib import Path


def check_place(out: Path) -> None:
    """Refuse a folder, and a file in a folder that is not there."""
    if out.is_dir():
        raise ValueError(f"--out must be a file, and {out} is a folder. Name a file in it.")
    if not out.parent.is_dir():
        raise ValueError(f"--out must be in a folder that exists, and {out.parent} does not.")


def check_not_input(out: Path, source: str | Path) -> None:
    """Refuse to write over what is read."""
    if out.exists() and Path(source).exists() and out.samefile(source):
        raise ValueError(f"--out must be another file than the input, got {out}. Name a new file.")


def check_new(out: Path, way_out: str = "Delete it or name another.") -> None:
    """Refuse to write over any file."""
    if out.exists():
        raise ValueError(f"--out must be a new file, and {out} exists. {way_out}")


def check_model_target(out: Path) -> None:
    """Refuse to write a model over anything but a model."""
    from labelkin.storage.file import MAGIC

    if not out.is_file():
        return
    with out.open("rb") as file:
        start = file.read(len(MAGIC))
    if start != MAGIC:
        raise ValueError(
            f"--out must be a new file or an older model, and {out} exists and is no labelkin "
            "model file. Delete it or name another."
        )
