"""Coroutines of the page in tests."""

import asyncio
from concurrent.futures import ThreadPoolExecutor


def awaited(coroutine):
    """Return what a coroutine returns, run in a thread: Playwright leaves a running loop in that of the tests."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()
