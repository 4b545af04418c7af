"""A registry with the kind that sends notices: no mail server, one receiver that is never there."""

from sakuin.queue.notices import Senders, Webhooks, notice_jobs
from web_receiver import SECRET

NOBODY = "127.0.0.1:9"

jobs = notice_jobs(lambda: Senders(webhooks=Webhooks((SECRET,), allow=frozenset({NOBODY}))))
