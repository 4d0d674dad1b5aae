"""Vendors over the real door, on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from webseam.call import LOCAL, Call
from webseam.egress.addresses import Allowance
from webseam.egress.client import Egress
from webseam.engines import catalogue
from webseam.engines.vendor import VendorProvider
from webseam.testing.vendor import LoopbackVendor

Ask = Callable[..., Any]


@pytest.fixture
def ask() -> Ask:
    """`ask(loopback, "query", 5, country="US")`: what the vendor's provider gives, through the real door."""

    def ask(loopback: LoopbackVendor, query: str = "sans-io", count: int = 8, *, key: str | None = None, **filters: Any) -> Any:
        seconds = filters.pop("seconds", 20.0)
        settings = {"base_url": loopback.url, "api_key": loopback.key if key is None else key}
        allowed = Allowance(LOCAL, "127.0.0.1", loopback.port, f"engine:{loopback.name}")

        async def main() -> Any:
            egress = Egress(allowances=lambda account: [allowed])
            try:
                door = egress.door(Call(seconds=seconds), f"engine:{loopback.name}")
                return await VendorProvider(catalogue.vendor(loopback.name), settings, door).search(query, count, **filters)
            finally:
                await egress.close()

        return asyncio.run(main())

    return ask


@pytest.fixture
def run() -> Callable[[Awaitable[Any]], Any]:
    """Await one thing in a loop of its own."""

    async def wait(awaitable: Awaitable[Any]) -> Any:
        return await awaitable

    return lambda awaitable: asyncio.run(wait(awaitable))
