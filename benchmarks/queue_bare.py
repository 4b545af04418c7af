"""The least that a queue in SQL can do, through PyMySQL alone: what ours is measured against.

A table with one index, READ COMMITTED, and no more promises than its statements make: no unique
keys, no priorities, no attempts, no limits, no dead list, no replay.
"""

import secrets
from typing import Any

import pymysql
from sqlalchemy import make_url

TABLE = """\
CREATE TABLE IF NOT EXISTS bare_messages (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  queue VARCHAR(100) NOT NULL,
  locked_until DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
  token BINARY(16) NULL,
  data LONGBLOB NOT NULL,
  KEY (queue, locked_until, id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"""
QUEUE = "bench"
ROWS_A_STATEMENT = 1_000


class BareQueue:
    """One connection to the bare table."""

    def __init__(self, url: str) -> None:
        address = make_url(url)
        self._connection: pymysql.Connection[Any] = pymysql.connect(
            host=address.host or "127.0.0.1",
            port=address.port or 3306,
            user=address.username or "",
            password=address.password or "",
            database=address.database,
            charset="utf8mb4",
        )
        with self._connection.cursor() as cursor:
            cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
            cursor.execute(TABLE)

    def empty(self) -> None:
        """Remove every message."""
        with self._connection.cursor() as cursor:
            cursor.execute("TRUNCATE TABLE bare_messages")

    def push_many(self, count: int, data: bytes) -> None:
        """Push so many messages in long statements, in one transaction."""
        with self._connection.cursor() as cursor:
            for start in range(0, count, ROWS_A_STATEMENT):
                size = min(ROWS_A_STATEMENT, count - start)
                rows = ", ".join(["(%s, %s)"] * size)
                values = [value for _ in range(size) for value in (QUEUE, data)]
                cursor.execute(f"INSERT INTO bare_messages (queue, data) VALUES {rows}", values)
        self._connection.commit()

    def claim_and_ack(self, batch: int, lease_seconds: int = 600) -> int:
        """Lease a batch, commit, delete it, commit; return how many it was."""
        ids = self.claim(batch, lease_seconds)
        if ids:
            with self._connection.cursor() as cursor:
                cursor.execute(f"DELETE FROM bare_messages WHERE id IN ({_list(ids)})")
            self._connection.commit()
        return len(ids)

    def claim(self, batch: int, lease_seconds: int = 600) -> list[int]:
        """Lease a batch and commit."""
        with self._connection.cursor() as cursor:
            cursor.execute(
                "SELECT id, data FROM bare_messages"
                " WHERE queue = %s AND locked_until <= UTC_TIMESTAMP(6)"
                " ORDER BY locked_until, id LIMIT %s FOR UPDATE SKIP LOCKED",
                (QUEUE, batch),
            )
            ids = [int(row[0]) for row in cursor.fetchall()]
            if ids:
                cursor.execute(
                    "UPDATE bare_messages SET token = %s,"
                    " locked_until = UTC_TIMESTAMP(6) + INTERVAL %s SECOND"
                    f" WHERE id IN ({_list(ids)})",
                    (secrets.token_bytes(16), lease_seconds),
                )
        self._connection.commit()
        return ids

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _list(ids: list[int]) -> str:
    return ",".join(map(str, ids))
