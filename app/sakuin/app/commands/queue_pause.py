"""`sakuin queue pause` and `sakuin queue resume`."""

from sakuin.app.commands.options import AsJson, DatabaseUrl, DataDir, put_json, say
from sakuin.app.commands.queue_opened import QueueName, opened_queues, tell_unknown
from sakuin.queue import pause, read, resume


def pause_queue(
    queue: QueueName,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Let nothing more be taken from a queue, until it is resumed.

    Messages can still be pushed, and what workers have taken already they finish.
    Safe to repeat.

    JSON: {"queue", "is_paused": true, "is_new"}; not new: it was paused before.
    """
    with opened_queues(data_dir, database_url) as opened:
        if not as_json:
            read(opened.database, lambda connection: tell_unknown(connection, opened, queue))
        is_new = pause(opened.database, queue)
    if as_json:
        put_json({"queue": queue, "is_paused": True, "is_new": is_new})
        return
    say(f"{queue} is paused." if is_new else f"{queue} was paused already.")
    say(f"Messages wait in it until `sakuin queue resume {queue}`.")


def resume_queue(
    queue: QueueName,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Let a paused queue go on. Safe to repeat.

    JSON: {"queue", "is_paused": false, "is_new"}; not new: it was not paused.
    """
    with opened_queues(data_dir, database_url) as opened:
        is_new = resume(opened.database, queue)
        if not is_new and not as_json:
            read(opened.database, lambda connection: tell_unknown(connection, opened, queue))
    if as_json:
        put_json({"queue": queue, "is_paused": False, "is_new": is_new})
    else:
        say(f"{queue} goes on." if is_new else f"{queue} was not paused.")
