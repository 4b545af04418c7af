"""The tables, as numbered steps in both dialects. The message table is public: see the README.

A step that was released is never edited; a change is a new step at the end.
"""

from sakuin.queue.step import NOW_MYSQL, NOW_SQLITE, Step
from sakuin.queue.tables_of_jobs import JOB_STEPS
from sakuin.queue.tables_of_limits import LIMIT_STEPS
from sakuin.queue.tables_of_processes import PROCESS_STEPS

VERSION_TABLE_MYSQL = f"""\
CREATE TABLE IF NOT EXISTS sakuin_queue_steps (
  number INT UNSIGNED NOT NULL PRIMARY KEY,
  applied_at DATETIME(6) NOT NULL DEFAULT {NOW_MYSQL}
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"""

VERSION_TABLE_SQLITE = f"""\
CREATE TABLE IF NOT EXISTS sakuin_queue_steps (
  number INTEGER NOT NULL PRIMARY KEY,
  applied_at TEXT NOT NULL DEFAULT {NOW_SQLITE}
)"""

MESSAGES_MYSQL = f"""\
CREATE TABLE IF NOT EXISTS sakuin_messages (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  queue VARCHAR(100) NOT NULL DEFAULT 'default',
  priority TINYINT UNSIGNED NOT NULL DEFAULT 5,
  locked_until DATETIME(6) NOT NULL DEFAULT {NOW_MYSQL},
  due_at DATETIME(6) NOT NULL DEFAULT {NOW_MYSQL},
  token BINARY(16) NULL,
  attempts SMALLINT UNSIGNED NOT NULL DEFAULT 0,
  unique_key VARBINARY(255) NULL,
  expires_at DATETIME(6) NULL,
  created_at DATETIME(6) NOT NULL DEFAULT {NOW_MYSQL},
  data LONGBLOB NOT NULL,
  KEY sakuin_messages_claim (queue, priority, locked_until, id),
  UNIQUE KEY sakuin_messages_unique (queue, unique_key)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"""

DEAD_MYSQL = f"""\
CREATE TABLE IF NOT EXISTS sakuin_dead (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  message_id BIGINT UNSIGNED NOT NULL,
  queue VARCHAR(100) NOT NULL,
  priority TINYINT UNSIGNED NOT NULL,
  attempts SMALLINT UNSIGNED NOT NULL,
  data LONGBLOB NOT NULL,
  reason TEXT NOT NULL,
  traceback MEDIUMTEXT NULL,
  created_at DATETIME(6) NOT NULL,
  dead_at DATETIME(6) NOT NULL DEFAULT {NOW_MYSQL},
  KEY sakuin_dead_queue (queue, id),
  KEY sakuin_dead_message (message_id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"""

MESSAGES_SQLITE = f"""\
CREATE TABLE IF NOT EXISTS sakuin_messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  queue TEXT NOT NULL DEFAULT 'default',
  priority INTEGER NOT NULL DEFAULT 5 CHECK (priority BETWEEN 0 AND 255),
  locked_until TEXT NOT NULL DEFAULT {NOW_SQLITE},
  due_at TEXT NOT NULL DEFAULT {NOW_SQLITE},
  token BLOB NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  unique_key BLOB NULL,
  expires_at TEXT NULL,
  created_at TEXT NOT NULL DEFAULT {NOW_SQLITE},
  data BLOB NOT NULL
)"""

DEAD_SQLITE = f"""\
CREATE TABLE IF NOT EXISTS sakuin_dead (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  message_id INTEGER NOT NULL,
  queue TEXT NOT NULL,
  priority INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  data BLOB NOT NULL,
  reason TEXT NOT NULL,
  traceback TEXT NULL,
  created_at TEXT NOT NULL,
  dead_at TEXT NOT NULL DEFAULT {NOW_SQLITE}
)"""

CLAIM_KEY_SQLITE = """\
CREATE INDEX IF NOT EXISTS sakuin_messages_claim
  ON sakuin_messages (queue, priority, locked_until, id)"""

UNIQUE_KEY_SQLITE = """\
CREATE UNIQUE INDEX IF NOT EXISTS sakuin_messages_unique
  ON sakuin_messages (queue, unique_key)"""

STEPS = (
    Step(
        number=1,
        mysql=(MESSAGES_MYSQL, DEAD_MYSQL),
        sqlite=(
            MESSAGES_SQLITE,
            CLAIM_KEY_SQLITE,
            UNIQUE_KEY_SQLITE,
            DEAD_SQLITE,
            "CREATE INDEX IF NOT EXISTS sakuin_dead_queue ON sakuin_dead (queue, id)",
            "CREATE INDEX IF NOT EXISTS sakuin_dead_message ON sakuin_dead (message_id)",
        ),
    ),
    *LIMIT_STEPS,
    *JOB_STEPS,
    *PROCESS_STEPS,
)

TABLES = (
    "sakuin_alerts",
    "sakuin_processes",
    "sakuin_runs",
    "sakuin_tasks",
    "sakuin_measures",
    "sakuin_batch_messages",
    "sakuin_batches",
    "sakuin_jobs",
    "sakuin_pauses",
    "sakuin_limited",
    "sakuin_limits",
    "sakuin_dead",
    "sakuin_messages",
    "sakuin_queue_steps",
)
"""Every table of the queue, in an order in which they can be dropped."""
