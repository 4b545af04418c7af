"""The jobs of a shop: what it does behind its pages. They live in the database of its orders.

    sakuin init                              once: the tables of the queue
    sakuin queue run --jobs jobs:jobs --tasks tasks.toml --alerts alerts.toml

A job may run twice. So each is written to do no harm then: an invoice is a file of its order's
name that is put in place whole, an order that is there already is not added again.
"""

import csv
import json
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, text

from sakuin.queue import GiveUp, Limit, RetryPolicy, read, replay
from sakuin.queue.jobs import Callback, Jobs, Run, open_batch, push_to_batch, seal_batch

jobs = Jobs()


@dataclass(frozen=True)
class Order:
    """Which order is meant: the arguments are small, and the rest is read when the job runs."""

    number: int


@dataclass(frozen=True)
class Invoice:
    """What came out: kept as the job's result."""

    path: str
    yen: int


@dataclass(frozen=True)
class OrderFile:
    """A file of orders, one `number,yen` in each line."""

    path: str


@dataclass(frozen=True)
class Imported:
    """How many orders of a file were new, and the batch of their invoices."""

    orders: int
    batch: int


def add_order(connection: Connection, number: int, yen: int) -> bool:
    """Add an order, in the caller's transaction; tell whether it is new."""
    known = text("SELECT 1 FROM orders WHERE number = :number")
    if connection.execute(known, {"number": number}).first():
        return False
    add = text("INSERT INTO orders (number, yen) VALUES (:number, :yen)")
    connection.execute(add, {"number": number, "yen": yen})
    return True


@jobs.job("invoice", queue="invoices", unique_key=lambda order: str(order.number))
def write_invoice(order: Order, run: Run) -> Invoice:
    """Write the invoice of an order."""
    ask = text("SELECT yen FROM orders WHERE number = :number")
    yen = read(run.engine, lambda c: c.execute(ask, {"number": order.number}).scalar())
    if yen is None:
        raise GiveUp(f"there is no order {order.number}")
    path = Path(f"invoice-{order.number}.txt")
    part = path.with_suffix(f".{run.message_id}-{run.attempts}")
    part.write_text(f"Order {order.number}: {yen} yen\n", encoding="utf-8")
    part.replace(path)
    return Invoice(str(path), yen)


@jobs.job(
    "import",
    queue="imports",
    limit=lambda file: Limit(file.path, to=1),  # no file twice at once
    policy=RetryPolicy(max_attempts=3, first_seconds=10.0, max_crashes=2),
    seconds=600.0,
)
def import_orders(file: OrderFile, run: Run) -> Imported:
    """Add the orders of a file, each with a job for its invoice; when all are written, sum."""
    orders: list[tuple[int, int]] = []
    lines = Path(file.path).read_text(encoding="utf-8").splitlines()
    for line, row in enumerate(csv.reader(lines), start=1):
        if run.is_stopping:
            raise InterruptedError("the worker is about to stop")  # it comes back, unharmed
        try:
            number, yen = row
            orders.append((int(number), int(yen)))
        except ValueError as error:
            raise GiveUp(f"{file.path}, line {line}: {error}") from None
        run.progress(line, len(lines), "read")

    def add_all(connection: Connection) -> Imported:
        """One transaction: all of the file or nothing. Progress is told outside of it."""
        name = f"invoices of {file.path}"
        batch = open_batch(connection, name, Callback("reports", "sum", b"{}"))
        new = [number for number, yen in orders if add_order(connection, number, yen)]
        for number in new:
            data = json.dumps({"number": number}).encode()
            push_to_batch(connection, batch, "invoices", data, kind="invoice")
        seal_batch(connection, batch)
        return Imported(len(new), batch)

    return replay(run.engine, add_all)


@jobs.job("sum", queue="reports", priority=7, limit=Limit("all", on_conflict="discard"))
def sum_orders(run: Run) -> dict[str, int]:
    """Write the sum of all orders."""
    ask = text("SELECT COUNT(*) AS orders, COALESCE(SUM(yen), 0) AS yen FROM orders")
    row = read(run.engine, lambda c: c.execute(ask).one())
    report = {"orders": int(row.orders), "yen": int(row.yen)}
    Path("orders-sum.txt").write_text(f"{report}\n", encoding="utf-8")
    return report
