"""Queries that come at the same time share a transaction, as what takes longest is to wait for the disk."""

import asyncio
import queue
import threading
from typing import Any

from fairpriv.desk.clients import Client
from fairpriv.desk.private import Answered, PrivateDesk, Unavailable
from fairpriv.desk.query import Query
from fairpriv.errors import FairprivError

MOST = 64  # queries in a transaction: a crash in it loses no more, none of them sent


class Writer:
    """A thread that answers what is waiting, a transaction at a time."""

    def __init__(self, desk: PrivateDesk) -> None:
        self._desk, self._waiting = desk, queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, daemon=True, name="desk ledger")
        self._thread.start()

    async def answer(self, client: Client, query: Query) -> Answered:
        """Answer a query; the answer is on the disk when this returns."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future = loop.create_future()
        self._waiting.put((client, query, loop, future))
        found = await future
        if isinstance(found, FairprivError):
            raise found
        return found

    def close(self) -> None:
        """Finish what is waiting and stop."""
        self._waiting.put(None)
        self._thread.join()

    def _batch(self) -> list[Any]:
        batch = [self._waiting.get()]
        while len(batch) < MOST and batch[-1] is not None:
            try:
                batch.append(self._waiting.get_nowait())
            except queue.Empty:
                break
        return batch

    def _work(self) -> None:
        while True:
            batch = self._batch()
            jobs = [job for job in batch if job is not None]
            try:
                found = self._desk.answer([(client, query) for client, query, _, _ in jobs]) if jobs else []
            except Exception as error:  # whoever waits must hear of it
                found = [Unavailable(f"the desk failed ({type(error).__name__}): nothing was spent")] * len(jobs)
            for (_, _, loop, future), result in zip(jobs, found):
                loop.call_soon_threadsafe(_settle, future, result)
            if len(jobs) < len(batch):
                return


def _settle(future: asyncio.Future, result: Any) -> None:
    if not future.done():  # the client may have gone
        future.set_result(result)
