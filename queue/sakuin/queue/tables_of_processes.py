"""Step 6: recurring tasks and their runs, processes with their heartbeat, alerts."""

from sakuin.queue.step import NOW_MYSQL, NOW_SQLITE, Step

_END_MYSQL = ") ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"

TASKS_MYSQL = f"""\
CREATE TABLE IF NOT EXISTS sakuin_tasks (
  task_key VARCHAR(100) NOT NULL PRIMARY KEY,
  origin VARCHAR(255) NOT NULL,
  kind VARCHAR(100) NOT NULL,
  data LONGBLOB NOT NULL,
  schedule VARCHAR(255) NOT NULL,
  zone VARCHAR(64) NOT NULL,
  queue VARCHAR(100) NOT NULL,
  priority TINYINT UNSIGNED NOT NULL,
  catch_up_seconds DOUBLE NOT NULL,
  limit_rule TEXT NULL,
  description VARCHAR(255) NOT NULL DEFAULT '',
  planned_from DATETIME(6) NOT NULL DEFAULT {NOW_MYSQL}
{_END_MYSQL}"""
"""`planned_from`: the next run is the first after it. It is set to now when the task is declared or
its schedule changes, and moves on with each run that is pushed, or left out as too old."""

RUNS_MYSQL = f"""\
CREATE TABLE IF NOT EXISTS sakuin_runs (
  task_key VARCHAR(100) NOT NULL,
  run_at DATETIME(6) NOT NULL,
  message_id BIGINT UNSIGNED NOT NULL,
  pushed_at DATETIME(6) NOT NULL DEFAULT {NOW_MYSQL},
  is_manual TINYINT UNSIGNED NOT NULL DEFAULT 0,
  PRIMARY KEY (task_key, run_at)
{_END_MYSQL}"""
"""One row for each run that was pushed, in the same transaction: no scheduler can push it again."""

PROCESSES_MYSQL = f"""\
CREATE TABLE IF NOT EXISTS sakuin_processes (
  id BINARY(8) NOT NULL PRIMARY KEY,
  role VARCHAR(20) NOT NULL,
  host VARCHAR(255) NOT NULL,
  pid INT UNSIGNED NOT NULL,
  supervisor_id BINARY(8) NULL,
  detail TEXT NULL,
  dead_after_seconds DOUBLE NOT NULL,
  started_at DATETIME(6) NOT NULL DEFAULT {NOW_MYSQL},
  beat_at DATETIME(6) NOT NULL DEFAULT {NOW_MYSQL}
{_END_MYSQL}"""
"""The id begins every token that the process claims with, so that what it held can be found.
There are as many rows as processes: no index."""

ALERTS_MYSQL = f"""\
CREATE TABLE IF NOT EXISTS sakuin_alerts (
  rule_key VARCHAR(100) NOT NULL PRIMARY KEY,
  is_firing TINYINT UNSIGNED NOT NULL DEFAULT 0,
  changed_at DATETIME(6) NOT NULL DEFAULT {NOW_MYSQL}
{_END_MYSQL}"""

TASKS_SQLITE = f"""\
CREATE TABLE IF NOT EXISTS sakuin_tasks (
  task_key TEXT NOT NULL PRIMARY KEY,
  origin TEXT NOT NULL,
  kind TEXT NOT NULL,
  data BLOB NOT NULL,
  schedule TEXT NOT NULL,
  zone TEXT NOT NULL,
  queue TEXT NOT NULL,
  priority INTEGER NOT NULL,
  catch_up_seconds REAL NOT NULL,
  limit_rule TEXT NULL,
  description TEXT NOT NULL DEFAULT '',
  planned_from TEXT NOT NULL DEFAULT {NOW_SQLITE}
)"""

RUNS_SQLITE = f"""\
CREATE TABLE IF NOT EXISTS sakuin_runs (
  task_key TEXT NOT NULL,
  run_at TEXT NOT NULL,
  message_id INTEGER NOT NULL,
  pushed_at TEXT NOT NULL DEFAULT {NOW_SQLITE},
  is_manual INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (task_key, run_at)
)"""

PROCESSES_SQLITE = f"""\
CREATE TABLE IF NOT EXISTS sakuin_processes (
  id BLOB NOT NULL PRIMARY KEY,
  role TEXT NOT NULL,
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  supervisor_id BLOB NULL,
  detail TEXT NULL,
  dead_after_seconds REAL NOT NULL,
  started_at TEXT NOT NULL DEFAULT {NOW_SQLITE},
  beat_at TEXT NOT NULL DEFAULT {NOW_SQLITE}
)"""

ALERTS_SQLITE = f"""\
CREATE TABLE IF NOT EXISTS sakuin_alerts (
  rule_key TEXT NOT NULL PRIMARY KEY,
  is_firing INTEGER NOT NULL DEFAULT 0,
  changed_at TEXT NOT NULL DEFAULT {NOW_SQLITE}
)"""

PROCESS_STEPS = (
    Step(
        6,
        (TASKS_MYSQL, RUNS_MYSQL, PROCESSES_MYSQL, ALERTS_MYSQL),
        (TASKS_SQLITE, RUNS_SQLITE, PROCESSES_SQLITE, ALERTS_SQLITE),
    ),
)
