"""MCP as a part of a Starlette or FastAPI application: `uvicorn engine_mounted:app --timeout-graceful-shutdown 5`."""

from engine_tools import engine
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from webseam.transports.asgi import mcp_app

mcp = mcp_app(engine, allowed_hosts=["127.0.0.1:8000", "localhost:8000"], allowed_origins=[])


async def home(request):
    return PlainTextResponse("The rest of the application.")


app = Starlette(routes=[Route("/", home)])  # or: app = FastAPI()
app.mount("/", mcp)  # last, as it takes every path that is left: it serves /mcp and /livez
