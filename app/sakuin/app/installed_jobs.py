"""Every kind of job of this installation: Sakuin's own, notices, and those of the settings."""

from sakuin.app.import_path import look_here_too
from sakuin.app.maintenance import maintenance_jobs
from sakuin.app.notice_senders import senders
from sakuin.app.settings import read_settings
from sakuin.queue.jobs import Jobs, load_jobs
from sakuin.queue.notices import notice_jobs

TARGET = "sakuin.app.installed_jobs:installed_jobs"
"""What the children of a worker are told to load."""


def installed_jobs() -> Jobs:
    """Return them, by the settings of this process. Raises SettingsError and BadTarget."""
    jobs = Jobs()
    if own := read_settings().jobs:  # they come first: the order is that of their queues
        look_here_too()
        jobs.include(load_jobs(own))
    jobs.include(notice_jobs(senders))
    jobs.include(maintenance_jobs())
    return jobs
