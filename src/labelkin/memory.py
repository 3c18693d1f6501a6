"""Check that a machine has the memory for some work before it starts."""

from __future__ import annotations

import os


def memory_of_machine() -> int | None:
    """Return the bytes of memory this machine has; ``None`` where it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on Windows
        return None


def check_memory(n_bytes: float, what: str, way_out: str) -> None:
    """Raise before work that takes more memory than there is.

    Parameters
    ----------
    n_bytes
        What it will take, by what is known of it.
    what
        The work and its size, for the message.
    way_out
        What to do instead.

    Raises
    ------
    MemoryError
        With the forecast, what there is, and the way out.

    Examples
    --------
    >>> check_memory(1e3, "weights of 10 × 10 labels", "Use fewer labels.")
    """
    there = memory_of_machine()
    if there is not None and n_bytes > there:
        raise MemoryError(
            f"{what} will take about {_in_words(n_bytes)} of memory, and this machine has "
            f"{_in_words(there)}. {way_out}"
        )


def _in_words(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:,.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:,.0f} MB"
