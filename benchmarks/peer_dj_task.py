"""The task of dj-queue in the comparison; import it when Django's settings are made."""

from django.tasks import task  # type: ignore[import-not-found]


@task  # type: ignore[untyped-decorator]
def do_nothing() -> None:
    """Cost nothing: what remains is what the queue costs."""
