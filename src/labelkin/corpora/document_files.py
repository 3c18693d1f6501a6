"""Documents of several files and folders in one go."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from labelkin.corpora.documents import ENDINGS, Document, Documents
from labelkin.corpora.lines import ending_of, stem_of
from labelkin.corpora.tables import counts_text
from labelkin.corpora.values import Split, document_files, skipped_files


class DocumentFiles:
    """The documents of several files and folders, one after the other, numbered through.

    Parameters
    ----------
    paths : sequence of paths
        Files; folders of Annif's, or with folders ``train`` and ``test`` inside, which make the
        split; or folders of tables and JSON lines, where files called ``train`` and ``test`` do.
    **options
        As :class:`Documents` takes them.

    Attributes
    ----------
    parts : list of Documents
        One for every file, or folder of files.
    """

    def __init__(self, paths: Sequence[str | os.PathLike[str]], **options: Any) -> None:
        self.parts = [
            Documents(path, **{**options, "split": split or options.get("split")})
            for one in paths
            for path, split in _parts_of(Path(one))
        ]
        folders = {part._path.parent for part in self.parts if part._path} & {*map(Path, paths)}
        skipped = (skipped_files(folder, ENDINGS) for folder in folders)
        self._skipped: Counter[str] = sum(skipped, Counter())

    def __iter__(self) -> Iterator[Document]:
        number = 0
        for part in self.parts:
            for document in part:
                number += 1
                yield document if document.number == number else document._replace(number=number)

    @property
    def understood(self) -> str:
        """What was found out, in words; where files differ, file by file."""
        said = {part._called: part.understood.reading() for part in self.parts}
        text = "; ".join(f"{name}: {one}" for name, one in said.items() if one)
        if len(set(said.values())) == 1:
            text = next(iter(said.values()))
        return ", ".join(filter(None, [text, counts_text(self.counts)]))

    @property
    def counts(self) -> Counter[str]:
        """Documents of the last pass, and what was empty or skipped."""
        return sum((part.understood.counts for part in self.parts), self._skipped)


def _parts_of(path: Path) -> list[tuple[Path, Split | None]]:
    """Return what is read of a path, and what it is for where names say so."""
    if not path.is_dir():
        return [(path, None)]
    splits: tuple[Split, ...] = ("train", "test")
    inside = [(path / split, split) for split in splits if (path / split).is_dir()]
    if inside or document_files(path):
        return [*inside] or [(path, None)]
    files = [file for file in sorted(path.iterdir()) if ending_of(file) in ENDINGS]
    if not files:
        return [(path, None)]  # an error that says what a folder must have
    names = {split: [file for file in files if stem_of(file) == split] for split in splits}
    if sum(map(len, names.values())) == len(files) and all(names.values()):
        return [(file, split) for split in splits for file in names[split]]
    return [(file, None) for file in files]
