import ipaddress

import pytest

from chat.skills.http.policy import HttpPolicy, is_public

PRIVATE = """
0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.127.255.254 127.0.0.1 127.8.9.10 169.254.169.254 172.16.0.1
172.31.255.255 192.0.0.1 192.0.2.5 192.88.99.1 192.168.1.1 198.18.0.1 198.51.100.7 203.0.113.9 224.0.0.1
239.1.2.3 240.0.0.1 255.255.255.255
:: ::1 ::7f00:1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0:127.0.0.1
fc00::1 fd12:3456::1 fe80::1 fe80::1%eth0 fec0::1 ff02::1 2001:db8::1 2001::1
2001:0:4136:e378:8000:63bf:3fff:fdd2 2002:7f00:1:: 2002:a00:1:: 2002:a9fe:a9fe::1 64:ff9b::127.0.0.1
64:ff9b::10.1.2.3 64:ff9b:1::1 64:ff9b:1::8.8.8.8 100::1 3fff::1 5f00::1
"""
PUBLIC = """
1.1.1.1 8.8.8.8 93.184.216.34 100.63.255.255 100.128.0.1 172.15.0.1 172.32.0.1 198.20.0.1 223.255.255.254
2606:4700:4700::1111 2a00:1450:4001::1 64:ff9b::8.8.8.8 2002:808:808::1 ::ffff:8.8.8.8
"""


@pytest.mark.parametrize("address", PRIVATE.split())
def test_private(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))
    assert not HttpPolicy().allows(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", PUBLIC.split())
def test_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


def test_networks_that_the_operator_opened() -> None:
    policy = HttpPolicy(networks=("10.1.0.0/16", "fd00::/8"))
    allowed = ["10.1.2.3", "fd00::5", "8.8.8.8"]
    refused = ["10.2.0.1", "127.0.0.1", "::ffff:10.2.0.1"]
    assert [policy.allows(ipaddress.ip_address(address)) for address in allowed + refused] == [True] * 3 + [
        False
    ] * 3


@pytest.mark.parametrize(
    ("allow", "deny", "host", "fine"),
    [
        ((), (), "any.test", True),
        (("good.test",), (), "good.test", True),
        (("good.test",), (), "www.good.test", False),
        (("*.good.test",), (), "www.good.test", True),
        (("*.good.test",), (), "good.test", False),
        (("*.good.test",), (), "evilgood.test", False),
        (("Good.Test.",), (), "good.test", True),
        ((), ("bad.test", "*.bad.test"), "bad.test", False),
        ((), ("bad.test", "*.bad.test"), "a.b.bad.test", False),
        ((), ("bad.test",), "good.test", True),
        (("good.test",), ("good.test",), "good.test", False),
    ],
)
def test_lists(allow: tuple[str, ...], deny: tuple[str, ...], host: str, fine: bool) -> None:
    assert (not HttpPolicy(allow=allow, deny=deny).host_error(host)) == fine
