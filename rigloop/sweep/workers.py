"""Processes of this machine, or a Dask cluster, that compute the batches of a sweep."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool

from rigloop.run_folder.not_started import NotStartedError
from rigloop.sweep.simulate import Batch, Row, run_batch

CONNECT_S = "10s"


def computed(batches: Sequence[Batch], workers: int, scheduler: str | None) -> Iterator[list[Row]]:
    """Yield the rows of each batch as it is done.

    Parameters
    ----------
    workers : int
        Processes of this machine.
    scheduler : str, optional
        Address of a Dask scheduler, whose workers see the same files and have rigloop installed.

    Raises
    ------
    NotStartedError
        The scheduler does not answer, Dask is not installed, or a process was killed.
    """
    if scheduler is not None:
        return _by_dask(batches, scheduler)
    if workers == 1:
        return map(run_batch, batches)
    return _by_processes(batches, workers)


def _by_processes(batches: Sequence[Batch], workers: int) -> Iterator[list[Row]]:
    pool = ProcessPoolExecutor(
        min(workers, len(batches)), multiprocessing.get_context("spawn"), initializer=_calm
    )
    try:
        for done in as_completed([pool.submit(run_batch, batch) for batch in batches]):
            yield done.result()
    except BrokenProcessPool:
        raise NotStartedError(
            "a process of the sweep was killed; the same command continues it"
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _calm() -> None:
    # Ctrl-C goes to every process of a terminal; the first one ends the others
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.setdefault("OMP_NUM_THREADS", "1")


def _by_dask(batches: Sequence[Batch], scheduler: str) -> Iterator[list[Row]]:
    try:
        import distributed
    except ImportError as error:
        raise NotStartedError(
            f"--scheduler needs Dask, which is not here ({error}): pip install 'rigloop[dask]'"
        ) from None
    # what it logs of a connection that is lost, this command says in one line
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = distributed.Client(scheduler, timeout=CONNECT_S, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise NotStartedError(f"{scheduler}: no Dask scheduler answers: {error}") from None
    try:
        # a replay is the same whenever and wherever it is: a worker that dies is no reason to stop
        futures = client.map(run_batch, batches, pure=False)
        for done in distributed.as_completed(futures, loop=client.loop):
            yield done.result()
    except (OSError, CancelledError, distributed.KilledWorker) as error:
        # the scheduler is gone, or several workers died of the same batch
        raise NotStartedError(
            f"{scheduler}: the workers did not end the sweep: {(str(error) or type(error).__name__).splitlines()[0]}; "
            "the same command continues it"
        ) from None
    finally:
        client.close()
