"""The queue of the 2010 article (myqueue), statement by statement, to be measured beside ours.

Its own table, bare PyMySQL, autocommit. It needs LAST_INSERT_ID(id), so MariaDB or MySQL.
"""

import time
from typing import Any

import pymysql
from sqlalchemy import make_url

_TABLE = """
CREATE TABLE article_queue (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  locked_until TIMESTAMP NOT NULL DEFAULT '0000-00-00 00:00:00',
  data BLOB
) ENGINE = InnoDB"""
_LOCK = """
UPDATE article_queue SET id = LAST_INSERT_ID(id), locked_until = NOW() + INTERVAL 10 SECOND
WHERE locked_until < NOW() ORDER BY id LIMIT 1"""


class ArticleQueue:
    """Push and pop as the article does them."""

    def __init__(self, url: str) -> None:
        address = make_url(url)
        self._connection: pymysql.Connection[Any] = pymysql.connect(
            host=address.host or "127.0.0.1",
            port=address.port or 3306,
            user=address.username,
            password=address.password or "",
            database=address.database,
            autocommit=True,
            sql_mode="",  # its zero date is refused by today's defaults
        )
        self._cursor = self._connection.cursor()
        self._cursor.execute("DROP TABLE IF EXISTS article_queue")
        self._cursor.execute(_TABLE)

    def push(self, data: bytes) -> None:
        """One INSERT."""
        self._cursor.execute("INSERT INTO article_queue SET data = %s", (data,))

    def pop(self) -> bytes | None:
        """Lock the first row, read its id, read its data, delete it."""
        if not self._cursor.execute(_LOCK):
            return None
        number = self._cursor.lastrowid
        self._cursor.execute("SELECT data FROM article_queue WHERE id = %s", (number,))
        row = self._cursor.fetchone()
        self._cursor.execute("DELETE FROM article_queue WHERE id = %s", (number,))
        return None if row is None else bytes(row[0])

    def fill(self, count: int, data: bytes) -> None:
        """Push many at once, to reach a depth."""
        for start in range(0, count, 1000):
            rows = [(data,)] * min(1000, count - start)
            self._cursor.executemany("INSERT INTO article_queue (data) VALUES (%s)", rows)

    def close(self) -> None:
        """Drop the table and leave."""
        self._cursor.execute("DROP TABLE article_queue")
        self._connection.close()


def pops_a_second(
    url: str, *, depth: int, most_pops: int, most_seconds: float, data: bytes
) -> float:
    """Return how many messages a second pop takes while the queue holds `depth` of them."""
    queue = ArticleQueue(url)
    queue.fill(depth, data)
    queue.pop()
    pops, seconds = 0, 0.0
    while pops < most_pops and seconds < most_seconds:
        queue.fill(1 if pops == 0 else 10, data)
        begun = time.perf_counter()
        for _ in range(10):
            assert queue.pop() is not None
        seconds += time.perf_counter() - begun
        pops += 10
    queue.close()
    return pops / seconds
