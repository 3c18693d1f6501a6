"""A check of memory before large work starts."""

from __future__ import annotations

import os


def memory_of_machine() -> int | None:
    """Return the bytes of memory of this machine; ``None`` if unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on Windows
        return None


def check_memory(n_bytes: float, what: str, hint: str) -> None:
    """Raise before work that needs more memory than the machine has.

    Parameters
    ----------
    n_bytes
        Estimated size.
    what
        The work and its size, for the message.
    hint
        What to do instead.

    Raises
    ------
    MemoryError
        With the estimate, the memory of the machine, and the hint.

    Examples
    --------
    >>> check_memory(1e3, "weights of 10 × 10 labels", "Use fewer labels.")
    """
    available = memory_of_machine()
    if available is not None and n_bytes > available:
        raise MemoryError(
            f"{what} will take about {_in_words(n_bytes)} of memory, and this machine has "
            f"{_in_words(available)}. {hint}"
        )


def _in_words(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:,.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:,.0f} MB"
