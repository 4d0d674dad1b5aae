"""trafilatura behind aiohttp: `GET /?url=...` fetches the page and answers `{"content": ...}`. Its argument: the settings.

As fast as it gets on two cores: one session whose connections are kept, two processes that extract, uvloop where there is one.
The port is the system's choice, and the first line of the output.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from aiohttp import ClientSession, TCPConnector, web
from trafilatura import extract


async def main(settings: str) -> None:
    job = partial(extract, output_format="markdown", **json.loads(settings))
    loop = asyncio.get_running_loop()
    with ProcessPoolExecutor(2) as pool:
        async with ClientSession(connector=TCPConnector(limit=0)) as session:

            async def answer(request: web.Request) -> web.Response:
                url = request.query["url"]
                async with session.get(url) as response:
                    page = await response.read()
                return web.json_response({"url": url, "content": await loop.run_in_executor(pool, partial(job, page, url=url))})

            app = web.Application()
            app.router.add_get("/", answer)
            runner = web.AppRunner(app, access_log=None)
            await runner.setup()
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            print(runner.addresses[0][1], flush=True)
            await asyncio.Event().wait()


if __name__ == "__main__":
    factory = None
    if importlib.util.find_spec("uvloop"):
        import uvloop

        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as started:
        started.run(main(*sys.argv[1:]))
