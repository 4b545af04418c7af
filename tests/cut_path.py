"""A database by two network paths: one that can be cut at COMMIT, and one that is whole."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Engine

from cut_proxy import CutProxy, Where, cut_proxy
from databases import Servers, fresh_schema
from sakuin.queue import create_schema, open_engine

EVERYWHERE: tuple[Where, ...] = ("before", "after")


@dataclass(frozen=True, slots=True)
class Path:
    """The engines of both paths, and the proxy that cuts."""

    proxy: CutProxy
    cut: Engine
    whole: Engine


@contextmanager
def cut_path(servers: Servers) -> Iterator[Path]:
    """Give both paths to a schema of their own."""
    with fresh_schema(servers.private().url) as url, cut_proxy(url) as (proxy, through):
        whole, cut = open_engine(url), open_engine(through)
        create_schema(whole)
        with cut.connect():
            pass  # what opens a connection commits, too: only our own COMMIT is to be cut
        yield Path(proxy, cut, whole)
        cut.dispose()
        whole.dispose()
