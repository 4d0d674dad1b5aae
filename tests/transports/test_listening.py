"""Which addresses may be listened on, and what is said of those that may not."""

from __future__ import annotations

import socket

import pytest

from webseam.errors import ConfigurationError
from webseam.transports.http import Server, listen, local_names


async def nothing(scope: object, receive: object, send: object) -> None:
    """An application that is never asked."""


def test_port_0_takes_a_free_one_and_the_names_carry_it() -> None:
    with listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        assert port > 0
        hosts, origins = local_names(listener)
        assert hosts == {f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"}
        assert origins == {f"http://{host}" for host in hosts}
        server = Server(nothing, listener)
        assert (server.port, server.url) == (port, f"http://127.0.0.1:{port}")


def test_a_port_that_is_taken_is_refused_with_the_flag_that_helps() -> None:
    with listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(ConfigurationError, match=rf"{port}.*--port"):
            listen("127.0.0.1", port)


@pytest.mark.parametrize("host", ["0.0.0.0", "", "::"])
def test_an_address_that_others_reach_is_refused_while_nobody_signs_in(host: str) -> None:
    with pytest.raises(ConfigurationError, match=r"--host"):
        listen(host, 0)


def test_it_is_allowed_once_callers_sign_in() -> None:
    with listen("0.0.0.0", 0, signed_in=True) as listener:
        assert Server(nothing, listener).url == f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.parametrize("host", ["192.0.2.1", "no such name", "a" * 300, "\udcff"])
def test_an_address_that_is_not_ours_is_refused_with_the_flag_that_helps(host: str) -> None:
    with pytest.raises(ConfigurationError, match=r"--host"):
        listen(host, 0, signed_in=True)


def test_ipv6_loopback_may_be_listened_on() -> None:
    if not socket.has_ipv6:
        pytest.skip("no IPv6 in this Python")
    try:
        listener = listen("::1", 0)
    except ConfigurationError as error:
        pytest.skip(f"no IPv6 on this machine: {error}")
    with listener:
        port = listener.getsockname()[1]
        assert f"[::1]:{port}" in local_names(listener)[0]
        assert Server(nothing, listener).url == f"http://[::1]:{port}"
