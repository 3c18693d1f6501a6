"""Atomic file writes, limits of declared sizes, CSV cells, and commands of helper processes."""

from __future__ import annotations

import csv
import io
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

#: First characters of cells that a spreadsheet computes.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
#: Features, documents or cells that a file of any size may declare, and labels.
MOST_UNSEEN, MOST_LABELS = 2**24, 2**20


@contextmanager
def atomic_replace(path: Path, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """Yield a new file in the same folder, which replaces ``path`` at the end.

    Until the new file is complete and on disk, ``path`` stays unchanged, also after an error or a
    kill, which leaves a hidden ``.part`` file; of several writers the last one wins. A link stays a
    link: its target is replaced, with the same permissions. Devices, folders and read-only files
    are an error; an error of the disk names ``path``.

    Parameters
    ----------
    path : Path
        The file to replace or create.
    mode : int, default 0o666
        Permissions of a new file, before the umask of the process.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "answer.txt"
    >>> with atomic_replace(path) as file:
    ...     _ = file.write(b"42")
    >>> path.read_text()
    '42'
    """
    target = path.resolve()
    old = _replaceable(target)
    part = target.with_name(f".{target.name[:50]}.{secrets.token_hex(8)}.part")
    try:
        with annotate_os_errors(path, part):
            with os.fdopen(_new_file(part, old, mode), "wb") as file:
                yield file
                to_disk(file)
            part.replace(target)
            names_to_disk(target.parent)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def annotate_os_errors(path: Path, part: Path | None = None) -> Iterator[None]:
    """Add ``path`` to errors of the system that name no file, or the part file."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename not in (None, str(part)):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def check_ordinary(path: Path) -> None:
    """Raise for a device, a pipe or a folder: a saved file would replace it."""
    target = path.resolve()
    if target.exists() and not target.is_file():
        kind = "folder" if target.is_dir() else "device or pipe"
        raise FileExistsError(
            f"The output must be an ordinary file, and {path} is a {kind}. Name another file."
        )


def try_lock(descriptor: int) -> bool:
    """Lock an open file; return whether this process has the lock.

    Closing the file releases the lock, and so does the end of the process. Windows has no such
    lock: users must run one process at a time.
    """
    if fcntl is not None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _replaceable(target: Path) -> os.stat_result | None:
    """Return the status of a file to replace; ``None`` if it does not exist."""
    check_ordinary(target)
    try:
        old = target.stat()
    except FileNotFoundError:
        return None
    if not old.st_mode & 0o222:
        raise PermissionError(
            f"{target} is read-only and stays as it is. Allow writing (chmod u+w), or name another "
            "file."
        )
    return old


def _new_file(part: Path, old: os.stat_result | None, mode: int) -> int:
    """Create a file with the permissions and, if allowed, the owner of the old one."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(part, flags, mode if old is None else 0o600)
    if old is not None and hasattr(os, "fchown"):  # Windows has fchmod, from 3.13 on, and no owners
        with suppress(OSError):  # only root may give files away
            os.fchown(descriptor, old.st_uid, old.st_gid)
        with suppress(OSError):  # some file systems have no modes
            os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
    return descriptor


def write_atomic(path: Path, data: str | bytes) -> None:
    """Write a file in one piece; text as UTF-8."""
    with atomic_replace(path) as file:
        file.write(data.encode() if isinstance(data, str) else data)


def csv_text(rows: Iterable[Sequence[Any]], delimiter: str = ",") -> str:
    r"""Return rows as the text of a table, a line each; no cell is a formula to a spreadsheet.

    Examples
    --------
    >>> csv_text([["id", "labels"], [7, "tea; sugar"], [8, "=1+1"]], ";")
    'id;labels\n7;"tea; sugar"\n8;\'=1+1\n'
    """
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    writer.writerows([safe_cell(cell) for cell in row] for row in rows)
    return file.getvalue()


def safe_cell(value: Any) -> Any:
    """Put an apostrophe before a text that a spreadsheet would read as a formula.

    Such texts begin with ``= + - @``, a tab or a carriage return and are no numbers.
    :func:`plain_cell` takes the apostrophe away again.

    Examples
    --------
    >>> safe_cell("=1+1"), safe_cell("@home"), safe_cell("-1.5"), safe_cell("tea"), safe_cell(-2)
    ("'=1+1", "'@home", '-1.5', 'tea', -2)
    """
    return f"'{value}" if isinstance(value, str) and _is_formula(value.lstrip("'")) else value


def plain_cell(text: str) -> str:
    """Return the text that :func:`safe_cell` was given.

    Examples
    --------
    >>> plain_cell("'=1+1"), plain_cell("'tis"), plain_cell(safe_cell("'=1+1"))
    ('=1+1', "'tis", "'=1+1")
    """
    return text[1:] if text.startswith("'") and _is_formula(text.lstrip("'")) else text


def _is_formula(text: str) -> bool:
    if not text.startswith(_FORMULA):
        return False
    try:
        float(text)
    except ValueError:
        return True
    return text[0] in "\t\r"


def to_disk(file: IO[bytes]) -> None:
    """Flush a file, so that it survives a power cut."""
    file.flush()
    os.fsync(file.fileno())


def names_to_disk(folder: Path) -> None:
    """Flush the names in a folder, so that new files survive a power cut."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def check_declared(path: Path, declared: int, what: str, most: int = MOST_UNSEEN) -> None:
    """Raise for a declared number that needs far more memory than the file has bytes.

    Parameters
    ----------
    path : Path
        The file that declares it.
    declared : int
        The number.
    what : str
        The counted things, for the message.
    most : int, default 2²⁴
        The number that an empty file may declare; a file may declare 10 more for each byte.
    """
    size = path.stat().st_size
    most += 10 * size
    if declared > most:
        raise ValueError(
            f"{path.name}: a file of {size:,} bytes must have at most {most:,} {what}, got "
            f"{min(declared, 10**18):,}. Is the file cut off? Number its {what} without gaps."
        )


def check_unpacked(path: Path, n_bytes: int, most: int = 2**24) -> None:
    """Raise if a packed file unpacks to more than ``most`` bytes and 100 times its size."""
    most += 100 * path.stat().st_size
    if n_bytes > most:
        raise ValueError(
            f"{path.name}: a packed file of {path.stat().st_size:,} bytes must unpack to at most "
            f"{most:,} bytes, and has more. Unpack it first, if you know where it comes from."
        )


#: Control characters of terminals, and characters that reorder the text around them.
_CONTROLS = re.compile(r"[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def printable(text: object) -> str:
    r"""Return a text for terminals: control characters escaped, except tab and newline.

    Examples
    --------
    >>> print(printable("sea\x1b[2J"))
    sea\u001b[2J
    """
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", str(text))


def python_command(program: str, *arguments: object) -> tuple[list[str], dict[str, str]]:
    """Return the command and the environment that run a Python program with these arguments.

    The process imports from the folders of this one, except for the working directory, which may
    be a folder of downloaded data with a ``labelkin.py`` or a ``json.py`` in it.
    """
    folders = [path for folder in sys.path if (path := Path(folder).resolve()) != Path.cwd()]
    # The folder of labelkin last, even if it is the working directory: others are beside it.
    paths = os.pathsep.join(map(str, [*folders, Path(__file__).resolve().parent.parent]))
    command = [sys.executable, "-P", "-c", program, *map(str, arguments)]
    return command, {**os.environ, "PYTHONPATH": paths, "PYTHONSAFEPATH": "1"}
