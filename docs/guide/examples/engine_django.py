"""MCP over HTTP: the engine bound to an asynchronous Django view by hand. Run it with `uvicorn engine_django:app`."""

import asyncio

from django.conf import settings
from django.core.asgi import get_asgi_application
from django.http import HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from engine_tools import engine

LIMIT = 10 * 1024 * 1024  # bytes of a body


@csrf_exempt
@require_POST
async def mcp(request):
    if "origin" in request.headers:  # pages in a browser send an Origin: none may reach us (DNS rebinding)
        return HttpResponse(status=403)
    body = request.read(LIMIT + 1)
    if len(body) > LIMIT:
        return HttpResponse(status=413)
    outcome = engine.receive(body, headers={name.lower(): value for name, value in request.headers.items()})
    if outcome.work is not None:
        try:
            outcome = await outcome.work
        except asyncio.CancelledError:  # Django cancels a view whose client has left
            outcome.request.cancel()
            raise
    return HttpResponse(outcome.reply or b"", status=outcome.status, content_type="application/json")


urlpatterns = [path("mcp", mcp)]
if not settings.configured:  # this file is a whole site; in yours the view and its path are enough
    settings.configure(ROOT_URLCONF=__name__)
app = get_asgi_application()
