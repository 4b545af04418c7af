"""Step 5: jobs with a life, batches of messages, measures of each kind of job."""

from sakuin.queue.step import NOW_MYSQL, NOW_SQLITE, Step

_END_MYSQL = ") ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"

JOBS_MYSQL = f"""\
CREATE TABLE IF NOT EXISTS sakuin_jobs (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  status VARCHAR(8) NOT NULL DEFAULT 'waiting',
  message_id BIGINT UNSIGNED NOT NULL,
  receipt_handle BINARY(16) NULL,
  created_at DATETIME(6) NOT NULL DEFAULT {NOW_MYSQL},
  updated_at DATETIME(6) NOT NULL DEFAULT {NOW_MYSQL},
  started_at DATETIME(6) NULL,
  ended_at DATETIME(6) NULL,
  queue VARCHAR(100) NOT NULL DEFAULT 'default',
  kind VARCHAR(100) NULL,
  done BIGINT UNSIGNED NULL,
  total BIGINT UNSIGNED NULL,
  note VARCHAR(255) NULL,
  result LONGBLOB NULL,
  error TEXT NULL,
  notify TEXT NULL,
  keep_seconds DOUBLE NOT NULL DEFAULT 604800,
  keep_until DATETIME(6) NULL,
  KEY sakuin_jobs_message (message_id),
  KEY sakuin_jobs_status (status, id),
  KEY sakuin_jobs_keep (keep_until, id)
{_END_MYSQL}"""
"""The status is waiting, making, finished or failed; a receipt handle (the token of the message's
lease) is there while the message is received."""

BATCHES_MYSQL = f"""\
CREATE TABLE IF NOT EXISTS sakuin_batches (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  description VARCHAR(255) NOT NULL DEFAULT '',
  created_at DATETIME(6) NOT NULL DEFAULT {NOW_MYSQL},
  sealed_at DATETIME(6) NULL,
  ended_at DATETIME(6) NULL,
  messages BIGINT UNSIGNED NOT NULL DEFAULT 0,
  seen BIGINT UNSIGNED NOT NULL DEFAULT 0,
  failed BIGINT UNSIGNED NOT NULL DEFAULT 0,
  callback_queue VARCHAR(100) NULL,
  callback_kind VARCHAR(100) NULL,
  callback_data LONGBLOB NULL,
  callback_priority TINYINT UNSIGNED NOT NULL DEFAULT 5,
  notify TEXT NULL,
  keep_seconds DOUBLE NOT NULL DEFAULT 604800,
  keep_until DATETIME(6) NULL,
  KEY sakuin_batches_ended (ended_at, id),
  KEY sakuin_batches_keep (keep_until, id)
{_END_MYSQL}"""
"""`seen` counts the messages that were seen to be settled, `failed` those of them that died."""

BATCH_MESSAGES_MYSQL = f"""\
CREATE TABLE IF NOT EXISTS sakuin_batch_messages (
  batch_id BIGINT UNSIGNED NOT NULL,
  message_id BIGINT UNSIGNED NOT NULL,
  is_dead TINYINT UNSIGNED NOT NULL DEFAULT 0,
  PRIMARY KEY (batch_id, message_id),
  KEY sakuin_batch_messages_look (batch_id, is_dead, message_id),
  KEY sakuin_batch_messages_message (message_id)
{_END_MYSQL}"""
"""Messages of a batch that were not yet seen to be settled, or that were seen to be dead."""

MEASURES_MYSQL = f"""\
CREATE TABLE IF NOT EXISTS sakuin_measures (
  kind VARCHAR(100) NOT NULL,
  at DATETIME(6) NOT NULL,
  runs INT UNSIGNED NOT NULL DEFAULT 0,
  failed INT UNSIGNED NOT NULL DEFAULT 0,
  seconds DOUBLE NOT NULL DEFAULT 0,
  longest_seconds DOUBLE NOT NULL DEFAULT 0,
  waited_seconds DOUBLE NOT NULL DEFAULT 0,
  PRIMARY KEY (kind, at),
  KEY sakuin_measures_at (at)
{_END_MYSQL}"""
"""What happened in the minute that begins at `at`, for each kind of job."""

JOBS_SQLITE = f"""\
CREATE TABLE IF NOT EXISTS sakuin_jobs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  status TEXT NOT NULL DEFAULT 'waiting',
  message_id INTEGER NOT NULL,
  receipt_handle BLOB NULL,
  created_at TEXT NOT NULL DEFAULT {NOW_SQLITE},
  updated_at TEXT NOT NULL DEFAULT {NOW_SQLITE},
  started_at TEXT NULL,
  ended_at TEXT NULL,
  queue TEXT NOT NULL DEFAULT 'default',
  kind TEXT NULL,
  done INTEGER NULL,
  total INTEGER NULL,
  note TEXT NULL,
  result BLOB NULL,
  error TEXT NULL,
  notify TEXT NULL,
  keep_seconds REAL NOT NULL DEFAULT 604800,
  keep_until TEXT NULL
)"""

BATCHES_SQLITE = f"""\
CREATE TABLE IF NOT EXISTS sakuin_batches (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  description TEXT NOT NULL DEFAULT '',
  created_at TEXT NOT NULL DEFAULT {NOW_SQLITE},
  sealed_at TEXT NULL,
  ended_at TEXT NULL,
  messages INTEGER NOT NULL DEFAULT 0,
  seen INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  callback_queue TEXT NULL,
  callback_kind TEXT NULL,
  callback_data BLOB NULL,
  callback_priority INTEGER NOT NULL DEFAULT 5,
  notify TEXT NULL,
  keep_seconds REAL NOT NULL DEFAULT 604800,
  keep_until TEXT NULL
)"""

BATCH_MESSAGES_SQLITE = """\
CREATE TABLE IF NOT EXISTS sakuin_batch_messages (
  batch_id INTEGER NOT NULL,
  message_id INTEGER NOT NULL,
  is_dead INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (batch_id, message_id)
)"""

MEASURES_SQLITE = """\
CREATE TABLE IF NOT EXISTS sakuin_measures (
  kind TEXT NOT NULL,
  at TEXT NOT NULL,
  runs INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  seconds REAL NOT NULL DEFAULT 0,
  longest_seconds REAL NOT NULL DEFAULT 0,
  waited_seconds REAL NOT NULL DEFAULT 0,
  PRIMARY KEY (kind, at)
)"""

_INDEXES_SQLITE = (
    ("sakuin_jobs_message", "sakuin_jobs (message_id)"),
    ("sakuin_jobs_status", "sakuin_jobs (status, id)"),
    ("sakuin_jobs_keep", "sakuin_jobs (keep_until, id)"),
    ("sakuin_batches_ended", "sakuin_batches (ended_at, id)"),
    ("sakuin_batches_keep", "sakuin_batches (keep_until, id)"),
    ("sakuin_batch_messages_look", "sakuin_batch_messages (batch_id, is_dead, message_id)"),
    ("sakuin_batch_messages_message", "sakuin_batch_messages (message_id)"),
    ("sakuin_measures_at", "sakuin_measures (at)"),
)

JOB_STEPS = (
    Step(
        5,
        (JOBS_MYSQL, BATCHES_MYSQL, BATCH_MESSAGES_MYSQL, MEASURES_MYSQL),
        (
            JOBS_SQLITE,
            BATCHES_SQLITE,
            BATCH_MESSAGES_SQLITE,
            MEASURES_SQLITE,
            *(f"CREATE INDEX IF NOT EXISTS {name} ON {on}" for name, on in _INDEXES_SQLITE),
        ),
    ),
)
