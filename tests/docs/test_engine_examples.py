"""What the guide of the protocol engine shows: served for real, and spoken to by the official client."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import http.client
import importlib
import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters
from starlette.applications import Starlette

from webseam.errors import ProtocolError
from webseam.transports.asgi import mcp_app
from webseam.transports.http import Server, listen, local_names
from webseam.transports.memory import MemoryClient

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "guide" / "examples"
OVER_HTTP = ("engine_asgi", "engine_starlette", "engine_django")
SECONDS = 60
BODY_BYTES = 10 * 1024 * 1024
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
REVISION_OF = {"auto": "2026-07-28", "legacy": "2025-11-25"}


class Served(NamedTuple):
    """A binding behind uvicorn, in a process of its own."""

    port: int
    process: subprocess.Popen[str]


@contextlib.contextmanager
def served(example: str) -> Iterator[Served]:
    """Serve an example as its docstring says; nothing may have gone wrong in it by the end."""
    command = [sys.executable, "-W", "error", "-m", "uvicorn", f"{example}:app", "--port", "0", "--no-access-log"]
    process = subprocess.Popen(command, cwd=EXAMPLES, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    said = ""
    try:
        for line in process.stderr:
            said += line
            found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
            if found:
                yield Served(int(found[1]), process)
                break
        else:
            pytest.fail(said)
    finally:
        process.terminate()
        try:
            said += process.communicate(timeout=SECONDS)[1]
        finally:
            process.kill()
    assert "Traceback" not in said, said
    assert "Warning" not in said, said


@pytest.fixture(scope="module", params=OVER_HTTP)
def server(request: pytest.FixtureRequest) -> Iterator[Served]:
    with served(request.param) as running:
        yield running


def modern(method: str, params: dict[str, Any] | None = None, **more: str) -> tuple[bytes, dict[str, str]]:
    """A request of 2026-07-28: its body and its headers, of which `more` replaces some."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**(params or {}), "_meta": META}}
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
    if params is not None and "name" in params:
        headers["Mcp-Name"] = params["name"]
    return json.dumps(message).encode(), {**headers, **{name.replace("_", "-"): value for name, value in more.items()}}


def older(method: str, params: dict[str, Any] | None = None) -> tuple[bytes, dict[str, str]]:
    """A request of 2025-11-25."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, **({} if params is None else {"params": params})}
    return json.dumps(message).encode(), {"MCP-Protocol-Version": "2025-11-25"}


def post(
    server: Served, body: bytes, headers: dict[str, str] | None = None, method: str = "POST", path: str = "/mcp"
) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=SECONDS)
    with contextlib.closing(connection):
        connection.request(method, path, body, {"Content-Type": "application/json", **(headers or {})})
        response = connection.getresponse()
        return response.status, response.read()


def code_of(body: bytes) -> int:
    code: int = json.loads(body)["error"]["code"]
    return code


# ------------------------------------------------------------------------------------------------ what is promised of them


@pytest.mark.parametrize("example", [*OVER_HTTP, "engine_stdio"])
def test_a_binding_takes_under_forty_lines(example: str) -> None:
    assert len((EXAMPLES / f"{example}.py").read_text("utf-8").splitlines()) < 40


async def use(target: Any, mode: Any) -> None:
    """Everything that the examples serve, through the official client."""
    async with Client(target, mode=mode) as client:
        assert client.protocol_version == REVISION_OF[mode]
        assert [tool.name for tool in (await client.list_tools()).tools] == ["wait"]
        answer: Any = await client.call_tool("wait", {"seconds": 0})
        assert (answer.is_error, answer.content[0].text) == (False, "Waited 0 s.")
        refused: Any = await client.call_tool("wait", {"seconds": "long"})
        assert (refused.is_error, refused.content[0].text) == (True, "seconds must be a number from 0 to 3600.")
        memo: Any = await client.read_resource("memo://patience")
        assert memo.contents[0].text == "All things come to those who wait."
        prompt: Any = await client.get_prompt("calm", {"who": "Ishmael"})
        assert prompt.messages[0].content.text == "Calm Ishmael down."
        with pytest.raises(MCPError, match="Unknown tool: hurry"):
            await client.call_tool("hurry", {})


@pytest.mark.parametrize("mode", REVISION_OF)
def test_the_official_client_uses_a_binding_over_http(server: Served, mode: str) -> None:
    asyncio.run(use(f"http://127.0.0.1:{server.port}/mcp", mode))


@pytest.mark.parametrize("mode", REVISION_OF)
def test_the_official_client_uses_the_binding_over_stdio(mode: str) -> None:
    command = StdioServerParameters(command=sys.executable, args=["-W", "error", str(EXAMPLES / "engine_stdio.py")])
    asyncio.run(use(command, mode))


# ------------------------------------------------------------------------------------------------ bad input over HTTP


def test_bad_json_is_a_parse_error(server: Served) -> None:
    status, body = post(server, b"{")
    assert (status, code_of(body)) == (400, -32700)


def test_an_unknown_method_is_told_as_its_era_wants_it(server: Served) -> None:
    status, body = post(server, *older("tools/guess"))
    assert (status, code_of(body)) == (200, -32601)
    status, body = post(server, *modern("tools/guess"))
    assert (status, code_of(body)) == (404, -32601)


def test_a_notification_is_accepted_without_a_body(server: Served) -> None:
    assert post(server, b'{"jsonrpc": "2.0", "method": "notifications/initialized"}') == (202, b"")


def test_headers_that_say_something_else_than_the_body_are_refused(server: Served) -> None:
    call = {"name": "wait", "arguments": {"seconds": 0}}
    status, body = post(server, *modern("tools/call", call, Mcp_Name="hurry"))
    assert (status, code_of(body)) == (400, -32020)
    message, headers = modern("tools/call", call)
    del headers["Mcp-Method"]
    status, body = post(server, message, headers)
    assert (status, code_of(body)) == (400, -32020)
    assert post(server, *modern("tools/call", call))[0] == 200


def test_a_body_of_ten_mebibytes_is_served_and_a_larger_one_refused(server: Served) -> None:
    message = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    assert post(server, message.ljust(BODY_BYTES))[0] == 200
    assert post(server, b" " * (BODY_BYTES + 1)) == (413, b"")


def test_pages_in_a_browser_are_refused(server: Served) -> None:
    body, headers = modern("server/discover", Origin="http://rebound.example")
    assert post(server, body, headers)[0] == 403


def test_nothing_but_post_is_served(server: Served) -> None:
    assert post(server, b"", method="GET")[0] == 405
    assert post(server, b"", method="DELETE")[0] == 405


# ------------------------------------------------------------------------------------------------ a client that leaves


@pytest.mark.parametrize("example", OVER_HTTP)
def test_a_call_whose_client_has_left_does_not_keep_the_server_from_stopping(example: str) -> None:
    body, headers = modern("tools/call", {"name": "wait", "arguments": {"seconds": 3600}})
    fields = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n{fields}Content-Length: {len(body)}\r\n\r\n"
    with served(example) as running:
        with socket.create_connection(("127.0.0.1", running.port), timeout=SECONDS) as connection:
            connection.sendall(head.encode() + body)
            assert post(running, *modern("server/discover"))[0] == 200  # by then the call has begun
        assert post(running, *modern("server/discover"))[0] == 200


@pytest.fixture
def asgi_app(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return importlib.import_module(request.param).app


@pytest.mark.parametrize("asgi_app", ["engine_asgi", "engine_starlette"], indirect=True)
@pytest.mark.parametrize("era", [modern, older])
def test_that_the_client_left_cancels_a_call_from_2026_on_and_not_before(
    asgi_app: Any, era: Callable[..., tuple[bytes, dict[str, str]]]
) -> None:
    seconds = 3600 if era is modern else 0.01
    body, headers = era("tools/call", {"name": "wait", "arguments": {"seconds": seconds}})
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/mcp",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
    }
    events: list[dict[str, Any]] = [{"type": "http.request", "body": body}, {"type": "http.disconnect"}]
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return events.pop(0)

    async def send(event: dict[str, Any]) -> None:
        sent.append(event)

    async def main() -> None:
        async with asyncio.timeout(SECONDS):
            await asgi_app(scope, receive, send)
            left_behind = asyncio.all_tasks() - {asyncio.current_task()}  # cancelled, they end in the loop's next round
            await asyncio.gather(*left_behind, return_exceptions=True)

    asyncio.run(main())
    assert (b"Waited" in sent[-1]["body"]) == (era is older)


# ------------------------------------------------------------------------------------------------ stdio


def said_over_stdio(*lines: bytes) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-W", "error", str(EXAMPLES / "engine_stdio.py")]
    return subprocess.run(command, input=b"\n".join([*lines, b""]), capture_output=True, timeout=SECONDS, check=False)


def test_over_stdio_every_line_is_answered_in_its_order_and_a_notification_is_not() -> None:
    meta = {**META, "progressToken": "p"}
    call = {"name": "wait", "arguments": {"seconds": 0}, "_meta": meta}
    done = said_over_stdio(
        b"{",
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/guess"}',
        json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}).encode(),
    )
    assert (done.returncode, done.stderr) == (0, b"")
    broken, unknown, progress, answer = [json.loads(line) for line in done.stdout.splitlines()]
    assert (broken["error"]["code"], broken["id"]) == (-32700, None)
    assert (unknown["error"]["code"], unknown["id"]) == (-32601, 1)
    assert (progress["method"], progress["params"]["progressToken"]) == ("notifications/progress", "p")
    assert (answer["result"]["content"][0]["text"], answer["id"]) == ("Waited 0 s.", 2)


def test_over_stdio_a_line_without_an_end_is_not_read_for_ever() -> None:
    done = said_over_stdio(b" " * (BODY_BYTES + 1))
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"at most" in done.stderr


# ------------------------------------------------------------------------------------------------ in production


TOKEN = "a-token-of-the-test"


@contextlib.contextmanager
def in_production() -> Iterator[Served]:
    callers = json.dumps({hashlib.sha256(TOKEN.encode()).hexdigest(): "alice"})
    environment = {**os.environ, "PORT": "0", "CALLERS": callers, "STATE_KEY": "5a" * 32}
    command = [sys.executable, "-W", "error", str(EXAMPLES / "engine_served.py")]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)\n", process.stdout.readline())
        assert found is not None
        yield Served(int(found[1]), process)
    finally:
        process.terminate()
        try:
            _, said = process.communicate(timeout=SECONDS)
        finally:
            process.kill()
    assert said == ""
    if sys.platform != "win32":  # there, a process that is ended learns nothing of it
        assert process.returncode == 0


def test_in_production_only_those_with_a_token_come_in_and_only_by_its_public_name() -> None:
    public = {"Host": "mcp.example.com", "Authorization": f"Bearer {TOKEN}"}
    with in_production() as running:

        def status(**changed: str) -> int:
            body, headers = modern("tools/call", {"name": "wait", "arguments": {"seconds": 0}})
            return post(running, body, {**headers, **public, **changed})[0]

        assert status() == 200
        assert status(Host="MCP.Example.com") == 200
        assert status(Host="mcp.example.com:8443") == 403
        assert status(Host=f"127.0.0.1:{running.port}") == 403
        assert status(Origin="https://app.example.com") == 200
        assert status(Origin="https://other.example.com") == 403
        assert status(Authorization="Bearer another") == 401
        assert status(Authorization="") == 401
        assert post(running, b"", method="GET", path="/livez") == (200, b'{"status":"ok"}')


# ------------------------------------------------------------------------------------------------ mounted


def test_the_mounted_example_serves_mcp_beside_the_rest_of_the_application() -> None:
    with served("engine_mounted") as running:
        body, headers = modern("tools/call", {"name": "wait", "arguments": {"seconds": 0}})
        assert post(running, body, {**headers, "Host": "localhost:8000"})[0] == 200
        assert post(running, body, {**headers, "Host": "localhost:8001"})[0] == 403
        assert post(running, b"", method="GET", path="/") == (200, b"The rest of the application.")
        assert post(running, b"", method="GET", path="/livez") == (200, b'{"status":"ok"}')


@contextlib.contextmanager
def mounted(engine: Any, prefix: str) -> Iterator[int]:
    """The engine in a Starlette application at `prefix`, served in a thread; gives the port."""
    listener = listen("127.0.0.1", 0)
    hosts, origins = local_names(listener)
    app = Starlette()
    app.mount(prefix, mcp_app(engine, allowed_hosts=hosts, allowed_origins=origins))
    server, ready = Server(app, listener), threading.Event()
    thread = threading.Thread(target=server.run, args=(lambda _server: ready.set(),))
    thread.start()
    try:
        assert ready.wait(SECONDS)
        yield server.port
    finally:
        server.stop()
        thread.join(SECONDS)
    assert not thread.is_alive()


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return importlib.import_module


@pytest.mark.parametrize("mode", REVISION_OF)
@pytest.mark.parametrize(("prefix", "path"), [("/", "/mcp"), ("/api", "/api/mcp"), ("/mcp", "/mcp/")])
def test_the_official_client_uses_what_is_mounted(example: Callable[[str], Any], prefix: str, path: str, mode: str) -> None:
    with mounted(example("engine_tools").engine, prefix) as port:
        asyncio.run(use(f"http://127.0.0.1:{port}{path}", mode))


def test_what_is_mounted_says_that_it_lives_below_its_prefix(example: Callable[[str], Any]) -> None:
    with mounted(example("engine_tools").engine, "/api") as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
        with contextlib.closing(connection):
            connection.request("GET", "/api/livez")
            assert connection.getresponse().status == 200


# ------------------------------------------------------------------------------------------------ all of it


ERAS = ("2025-11-25", "2026-07-28")


@pytest.fixture(params=ERAS)
def bakery(request: pytest.FixtureRequest, example: Callable[[str], Any]) -> MemoryClient:
    """A client of the provider that has everything, which wants large cakes and knows tasks."""
    module = importlib.reload(example("engine_everything"))  # with an empty shelf
    return MemoryClient(
        module.engine,
        revision=request.param,
        capabilities={"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}},
        answer=lambda method, params: {"action": "accept", "content": {"size": "large"}},
    )


def text_of(result: Any) -> str:
    text: str = result["content"][0]["text"]
    return text


def test_the_provider_with_everything_has_under_eighty_lines() -> None:
    assert len((EXAMPLES / "engine_everything.py").read_text("utf-8").splitlines()) < 80


def test_a_tool_reports_logs_and_changes_what_is_watched(bakery: MemoryClient) -> None:
    async def main() -> None:
        listening = await watched(bakery)
        meta = {"progressToken": "p", "io.modelcontextprotocol/logLevel": "info"}
        call = {"name": "bake", "arguments": {"cake": "plum"}, "_meta": meta}
        result = await bakery.request("tools/call", call)
        assert text_of(result) == "A plum cake."
        assert result["structuredContent"] == {"shelf": ["plum"]}
        received = {message["method"].removeprefix("notifications/"): message["params"] for message in bakery.received}
        assert (received["progress"]["progress"], received["progress"]["message"]) == (3, "Minute 3")
        assert (received["message"]["data"], received["message"]["logger"]) == ({"baked": "plum"}, "oven")
        assert received["resources/updated"]["uri"] == "bakery://shelf"
        assert (await bakery.request("resources/read", {"uri": "bakery://shelf"}))["contents"][0]["text"] == "plum"
        if listening is not None:
            bakery.engine.end_subscriptions()
            await listening

    asyncio.run(main())


async def watched(client: MemoryClient) -> asyncio.Task[Any] | None:
    """Watch the shelf, as the client's era has it; the task of the subscription, where there is one."""
    if client.revision == "2025-11-25":
        await client.request("resources/subscribe", {"uri": "bakery://shelf"})
        return None
    wanted = {"notifications": {"resourceSubscriptions": ["bakery://shelf", "bakery://recipe/plum"]}}
    listening = asyncio.ensure_future(client.request("subscriptions/listen", wanted))
    while not client.received:
        await asyncio.sleep(0)
    assert client.received[0]["params"]["notifications"] == {"resourceSubscriptions": ["bakery://shelf"]}
    return listening


def test_a_tool_asks_for_what_it_needs(bakery: MemoryClient) -> None:
    async def main() -> None:
        order = {"name": "order", "arguments": {"cake": "cherry"}}
        assert text_of(await bakery.request("tools/call", order)) == "Ordered: a large cherry cake."
        bakery.answer = lambda method, params: {"action": "decline"}
        assert text_of(await bakery.request("tools/call", order)) == "Nothing was ordered."

    asyncio.run(main())


def test_a_tool_goes_on_as_a_task_where_there_are_tasks(bakery: MemoryClient) -> None:
    async def main() -> None:
        result = await bakery.request("tools/call", {"name": "design", "arguments": {"cake": "plum"}})
        assert ("taskId" in result) == (bakery.revision == "2026-07-28")
        task_id = result.get("taskId")
        while task_id is not None:
            task = await bakery.request("tasks/get", {"taskId": task_id})
            if task["status"] == "completed":
                result, task_id = task["result"], None
        assert text_of(result) == "PLUM"

    asyncio.run(main())


def test_resources_prompts_and_completions_are_served_from_the_same_provider(bakery: MemoryClient) -> None:
    async def main() -> None:
        listed = await bakery.request("tools/list")
        assert [tool["name"] for tool in listed["tools"]] == ["bake", "order", "design"]
        assert listed.get("ttlMs") == (60_000 if bakery.revision == "2026-07-28" else None)
        assert [one["uri"] for one in (await bakery.request("resources/list"))["resources"]] == ["bakery://shelf"]
        [template] = (await bakery.request("resources/templates/list"))["resourceTemplates"]
        reference = {"type": "ref/resource", "uri": template["uriTemplate"]}
        typed = {"ref": reference, "argument": {"name": "cake", "value": "c"}}
        assert (await bakery.request("completion/complete", typed))["completion"]["values"] == ["carrot", "cherry"]
        recipe = await bakery.request("resources/read", {"uri": template["uriTemplate"].format(cake="carrot")})
        assert recipe["contents"][0]["text"] == "Carrots, flour, eggs."
        [prompt] = (await bakery.request("prompts/list"))["prompts"]
        praise = await bakery.request("prompts/get", {"name": prompt["name"], "arguments": {"cake": "plum"}})
        assert praise["messages"][0]["content"]["text"] == "Praise this plum cake."

    asyncio.run(main())


def test_what_the_provider_does_not_have_is_refused(bakery: MemoryClient) -> None:
    missing = -32002 if bakery.revision == "2025-11-25" else -32602
    wrong: list[tuple[str, dict[str, Any], int]] = [
        ("tools/call", {"name": "eat"}, -32602),
        ("resources/read", {"uri": "bakery://cellar"}, missing),
        ("prompts/get", {"name": "praise"}, -32602),
    ]

    async def main() -> None:
        for method, params, code in wrong:
            with pytest.raises(ProtocolError) as refused:
                await bakery.request(method, params)
            assert refused.value.code == code
        bad: list[Any] = ["tart", ["plum"], {"plum": 1}, None]
        for cake in bad:
            assert (await bakery.request("tools/call", {"name": "bake", "arguments": {"cake": cake}}))["isError"]

    asyncio.run(main())
