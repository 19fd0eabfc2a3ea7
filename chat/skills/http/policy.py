"""Where requests may go and how much they may bring back."""

import ipaddress
from dataclasses import dataclass

type Address = ipaddress.IPv4Address | ipaddress.IPv6Address
type Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class HttpPolicy:
    """What the operator allows.

    A pattern is a host name, or `*.` and a domain for all names below it. An empty `allow` allows every host
    that `deny` does not name. `networks` are private addresses that may be reached all the same, such as
    those of an intranet.
    """

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    networks: tuple[str, ...] = ()
    max_bytes: int = 2_000_000  # after decompression; the text goes through the sandbox's memory
    seconds: float = 20.0  # for all of it, redirects included
    max_redirects: int = 5

    def host_error(self, host: str) -> str:
        """Return why the operator's lists exclude a host name, or an empty text."""
        if any(_fits(host, pattern) for pattern in self.deny):
            return f"{host} is on this site's list of hosts that must not be reached"
        if self.allow and not any(_fits(host, pattern) for pattern in self.allow):
            return f"{host} is not on this site's list of hosts: {', '.join(self.allow)}"
        return ""

    def allows(self, address: Address) -> bool:
        """Return whether an address is public, or in a network that the operator opened."""
        return is_public(address) or any(
            address.version == network.version and address in network
            for network in map(ipaddress.ip_network, self.networks)
        )


def _fits(host: str, pattern: str) -> bool:
    pattern = pattern.lower().rstrip(".")
    return host.endswith(pattern[1:]) if pattern.startswith("*.") else host == pattern


# Addresses inside addresses: where the packets end is what counts.
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# What the ranges below are for is never a web site, or leads elsewhere: local NAT64, discard, documentation,
# segment routing, Teredo (which wraps an address of somebody's home network) and deprecated site-local ones.
NEVER: tuple[Network, ...] = tuple(
    ipaddress.ip_network(text)
    for text in (
        "64:ff9b:1::/48",
        "100::/64",
        "2001::/23",
        "2001:db8::/32",
        "3fff::/20",
        "5f00::/16",
        "fec0::/10",
        "192.0.0.0/24",
        "192.88.99.0/24",
        "198.18.0.0/15",
    )
)


def is_public(address: Address) -> bool:
    """Return whether an address belongs to the open internet."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
    if any(address.version == network.version and address in network for network in NEVER):
        return False
    # `is_global` alone calls multicast global, and knows carrier NAT and the documentation networks.
    return address.is_global and not (
        address.is_multicast
        or address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_reserved
        or address.is_unspecified
    )
