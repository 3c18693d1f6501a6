"""Names and addresses of machines: which are this one, and which name a request is meant for."""

from __future__ import annotations

from ipaddress import ip_address

LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
#: Addresses that mean all of a machine's, under whatever name it is called.
EVERY_ADDRESS = frozenset({"0.0.0.0", "::", ""})


def is_local(host: str) -> bool:
    """Tell whether a service bound to a host can be reached from this machine only.

    Examples
    --------
    >>> is_local("localhost"), is_local("127.0.0.2"), is_local("0.0.0.0"), is_local("library.org")
    (True, True, False, False)
    """
    try:
        return host.lower() in LOCAL_HOSTS or ip_address(host).is_loopback
    except ValueError:  # another name
        return False


def name_in(host: str) -> str:
    """Return the name or address in a ``Host`` header, without port and brackets.

    Examples
    --------
    >>> name_in("Localhost:8000"), name_in("[::1]:8000"), name_in("127.0.0.1")
    ('localhost', '::1', '127.0.0.1')
    """
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()
