"""What users of other queues reported, in 32 groups, and the tests that this one does not do it."""

AT_ONCE = (
    "test_faults_queue_locks.py"
    "::test_solid_queue_240_everybody_at_once_and_no_deadlock_reaches_a_caller"
)

FAULTS: dict[int, tuple[str, ...]] = {
    # deadlocks and locks
    1: (AT_ONCE, "test_queue_order.py::test_no_statement_sorts_or_reads_the_whole_table"),
    2: (AT_ONCE,),
    3: (AT_ONCE, "test_process_dispatcher.py::test_three_dispatchers_do_each_thing_once"),
    4: ("test_queue_order.py::test_a_claim_reads_only_what_it_takes",),
    5: ("test_queue_limits.py::test_pushes_that_make_a_key_at_once_do_not_deadlock", AT_ONCE),
    6: (AT_ONCE, "test_queue_rivals.py::test_four_processes_settle_each_message_exactly_once"),
    7: (AT_ONCE, "test_queue_outcome.py::test_settling_is_not_taken_for_a_loss"),
    8: (
        AT_ONCE,
        "test_queue_replay.py::test_a_real_deadlock_is_replayed",
        "test_queue_replay.py::test_a_lock_that_is_not_had_in_time_is_replayed",
        "test_batch_rivals.py::test_action_scheduler_530_tidying_waits_for_no_open_transaction",
    ),
    9: (
        "test_queue_order.py::test_no_statement_sorts_or_reads_the_whole_table",
        "test_queue_order.py::test_two_open_claims_share_nothing_and_do_not_wait",
        "test_queue_order.py::test_an_open_claim_blocks_no_push",
    ),
    10: ("test_queue_engine.py::test_an_old_server_is_refused",),
    # concurrency limits
    11: (
        "test_queue_limits.py::test_every_end_of_a_holder_calls_the_next",
        "test_queue_limits.py::test_a_killed_holder_frees_its_place_within_its_seconds",
        "test_queue_limits_crash.py::test_killed_workers_never_exceed_a_limit_of_two",
    ),
    12: (
        "test_queue_limits_cost.py::test_a_crowd_of_blocked_messages_costs_nobody",
        "test_faults_queue.py::test_solid_queue_476_blocked_ones_come_out_together",
        "test_queue_limits.py::test_discard_neither_piles_up_nor_duplicates",
    ),
    13: (
        "test_queue_limits.py::test_two_claims_at_once_share_no_place",
        "test_queue_limits.py::test_a_batch_longer_than_the_limit_hoards_nothing",
    ),
    # stuck jobs, leases, fences
    14: (
        "test_queue_pause.py::test_only_what_that_holder_holds_is_given_back",
        "test_process_registry.py::test_what_a_dead_process_held_is_ready_at_once",
        "test_job_life.py::test_solid_queue_422_a_job_of_a_dead_process_waits_again",
    ),
    15: (
        "test_process_registry.py::test_a_heartbeat_goes_on_until_the_last_job_is_drained",
        "test_batch_rivals.py::test_solid_queue_589_a_job_ends_once_among_many_workers",
        "test_process_supervisor.py::test_a_silent_child_is_replaced",
    ),
    16: (
        "test_queue_unique.py::test_what_meets_a_newer_one_merges_into_it",
        "test_queue_unique.py::test_a_give_back_waits_for_a_push_that_is_not_committed",
    ),
    17: ("test_queue_keep_lease.py::test_the_lease_is_extended_while_the_block_runs",),
    18: (
        "test_queue_verbs.py::test_a_late_worker_changes_nothing",
        "test_job_prune.py::test_river_1302_a_rescuer_overwrites_no_job_that_was_settled_meanwhile",
    ),
    19: (
        "test_jobs_worker.py::test_leases_are_kept",
        "test_queue_clock.py::test_the_hosts_clock_does_not_matter",
    ),
    20: ("test_jobs_worker.py::test_time_limits_really_stop",),
    # lost or surprising pushes
    21: ("test_queue_crash.py::test_kill_of_a_worker_loses_nothing",),
    22: ("test_queue_push.py::test_a_push_commits_with_the_callers_row_or_not_at_all",),
    # time
    23: ("test_queue_clock.py::test_the_session_time_zone_does_not_matter",),
    24: ("test_queue_engine.py::test_every_mysql_session_is_strict_and_read_committed",),
    25: (
        "test_recurring_runs.py::test_daylight_saving_fires_twice_or_never",
        "test_recurring_runs.py::test_wrong_zone",
    ),
    26: (
        "test_recurring_runs.py::test_runs_missed_at_deploy",
        "test_recurring_runs.py::test_duplicate_noise_with_two_schedulers",
        "test_recurring_runs.py::test_a_restart_loses_the_periodic_jobs",
    ),
    # polls, bloat, scale
    27: (
        "test_faults_queue.py::test_solid_queue_146_an_empty_poll_is_one_read",
        "test_job_prune.py::test_solid_queue_278_what_ended_is_pruned_in_its_time_and_nothing_else",
    ),
    28: (
        "test_faults_queue.py::test_delayed_job_581_settled_messages_do_not_slow_claims",
        "test_queue_order.py::test_a_claim_reads_only_what_it_takes",
    ),
    29: (
        "test_job_prune.py::test_kestra_17262_a_purge_of_many_rows_is_many_small_transactions",
        "test_queue_stats.py::test_a_long_queue_costs_no_more_than_a_capped_one",
    ),
    # connections, long messages, poison
    30: (
        "test_queue_replay.py::test_a_killed_connection_is_replaced",
        "test_queue_replay.py::test_claim_and_ack_survive_a_kill_before_every_statement",
        "test_recurring_scheduler.py::test_a_lost_database_kills_the_scheduler",
    ),
    31: (
        "test_faults_queue.py::test_laravel_excel_2215_what_is_too_long_is_refused_by_name",
        "test_queue_push.py::test_what_the_server_cannot_take_is_refused_by_name",
    ),
    32: (
        "test_faults_queue.py::test_three_deaths_are_dead_and_counted_apart",
        "test_jobs_worker.py::test_three_crashes_are_dead",
        "test_jobs_worker.py::test_queues_are_emptied_in_order_and_children_recycled",
    ),
}
