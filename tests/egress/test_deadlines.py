"""One deadline over everything, and cancelling (row 39 of the abuse list)."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from webseam.call import Call
from webseam.config import LIMITS
from webseam.errors import DoorError
from webseam.seam.contract import HttpRequest

SHORT = 0.3


async def drip(request: Any, writer: asyncio.StreamWriter, start: bytes, piece: bytes) -> None:
    """One piece every few milliseconds until somebody hangs up: no single read ever waits long."""
    writer.write(start)
    while not request.reader.at_eof():
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0.01)


SLOW = {
    "nothing": (b"", b""),
    "status line": (b"HTTP/1.1 200 O", b"K"),
    "header": (b"HTTP/1.1 200 OK\r\nX-Slow: ", b"y"),
    "interim replies": (b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
    "body with length": (b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b"x"),
    "chunked body": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
    "body until close": (b"HTTP/1.1 200 OK\r\n\r\n", b"x"),
}


@pytest.mark.parametrize("where", SLOW)
def test_a_slow_reply_ends_with_the_calls_deadline(net: Any, where: str) -> None:
    async def main() -> None:
        async with net() as web:

            async def answer(request: Any, writer: asyncio.StreamWriter) -> None:
                await drip(request, writer, *SLOW[where])

            site, origin = await web.allowed_site(answer)
            with pytest.raises(DoorError) as caught:
                await web.door(seconds=SHORT).send(HttpRequest(origin))
            assert caught.value.kind == "timeout"
            assert str(caught.value).startswith(f"127.0.0.1:{site.port} did not answer completely within 0.3 s")
            await site.closed.wait()

    asyncio.run(main())


def test_a_chain_of_slow_redirects_ends_with_the_calls_deadline(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:

            async def answer(request: Any, writer: asyncio.StreamWriter) -> None:
                await asyncio.sleep(SHORT / 3)
                writer.write(respond(status=302, location=f"{request.target}x"))

            _, origin = await web.allowed_site(answer)
            with pytest.raises(DoorError) as caught:
                await web.door(seconds=SHORT).send(HttpRequest(f"{origin}/"), follow=True)
            assert caught.value.kind == "timeout"

    asyncio.run(main())


def test_a_slow_name_server_ends_with_the_calls_deadline(net: Any) -> None:
    class Never:
        async def resolve(self, host: str, port: int) -> list[str]:
            await asyncio.Event().wait()
            return []

    async def main() -> None:
        async with net(resolver=Never()) as web:
            with pytest.raises(DoorError) as caught:
                await web.door(seconds=SHORT).send(HttpRequest("http://slow.test/"))
            assert caught.value.kind == "timeout"

    asyncio.run(main())


def test_a_tls_handshake_that_never_comes_ends_with_the_calls_deadline(net: Any) -> None:
    async def main() -> None:
        async with net() as web:
            silent = asyncio.Event()

            async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                await reader.read()
                writer.close()
                silent.set()

            server = await asyncio.start_server(accept, "127.0.0.1", 0)
            web.servers.append(server)
            web.resolver.names["slow.test"] = [["93.184.216.34"]]
            web.leads["93.184.216.34", 443] = server.sockets[0].getsockname()[1]
            with pytest.raises(DoorError) as caught:
                await web.door(seconds=SHORT).send(HttpRequest("https://slow.test/"))
            assert caught.value.kind == "timeout"
            await silent.wait()

    asyncio.run(main())


def test_waiting_for_a_free_connection_ends_with_the_calls_deadline(net: Any) -> None:
    async def main() -> None:
        async with net() as web:

            async def answer(request: Any, writer: asyncio.StreamWriter) -> None:
                await request.hang_up()

            site = await web.public_site("a.test", answer)
            doors = [web.door(seconds=SHORT) for _ in range(20)]
            errors = await asyncio.gather(*(door.send(HttpRequest("http://a.test")) for door in doors), return_exceptions=True)
            assert [getattr(error, "kind", "") for error in errors] == ["timeout"] * 20
            assert site.connections <= LIMITS.connections_per_account_and_host, "who got its turn too late asked nothing"

    asyncio.run(main())


def test_a_call_that_is_over_sends_nothing(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            site, origin = await web.allowed_site(respond(b"x"))
            cancelled = Call()
            cancelled.cancel()
            for call, word in ((Call(seconds=0), "did not answer"), (cancelled, "was cancelled")):
                with pytest.raises(DoorError) as caught:
                    await web.door(call=call).send(HttpRequest(origin))
                assert caught.value.kind == "timeout"
                assert word in str(caught.value)
            assert site.connections == 0

    asyncio.run(main())


@pytest.mark.parametrize("from_another_thread", [False, True])
def test_a_cancelled_call_closes_its_connections(net: Any, from_another_thread: bool) -> None:
    async def main() -> None:
        async with net() as web:

            async def answer(request: Any, writer: asyncio.StreamWriter) -> None:
                await request.hang_up()

            site, origin = await web.allowed_site(answer)
            call = Call()
            door = web.door(call=call)
            waiting = [asyncio.ensure_future(door.send(HttpRequest(f"{origin}/{number}"))) for number in range(3)]
            while len(site.requests) < 3:
                site.asked.clear()
                await site.asked.wait()
            if from_another_thread:
                thread = threading.Thread(target=call.cancel)
                thread.start()
                thread.join()
            else:
                call.cancel()
            errors = await asyncio.gather(*waiting, return_exceptions=True)
            assert ["was cancelled" in str(error) for error in errors] == [True] * 3
            await site.closed.wait()

    asyncio.run(main())


def test_a_cancelled_task_closes_its_connection(net: Any) -> None:
    async def main() -> None:
        async with net() as web:

            async def answer(request: Any, writer: asyncio.StreamWriter) -> None:
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx")
                await request.hang_up()

            site, origin = await web.allowed_site(answer)
            call = Call()
            task = asyncio.ensure_future(web.door(call=call).send(HttpRequest(origin)))
            await site.asked.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert [step.outcome for step in call.steps] == ["CancelledError"]
            await site.closed.wait()

    asyncio.run(main())


def test_a_call_cancelled_after_its_loop_is_gone_is_harmless(net: Any, respond: Any) -> None:
    call = Call()

    async def main() -> None:
        async with net() as web:
            _, origin = await web.allowed_site(respond(b"x"))
            await web.door(call=call).send(HttpRequest(origin))

    asyncio.run(main())
    call.cancel()
