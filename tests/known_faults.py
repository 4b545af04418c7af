"""What other systems were reported to do wrong, by number, and the tests that this one does not.

45 groups of reports about search engines and the programs built on them. A string instead of tests
says why a report cannot apply here.
"""

FAULTS: dict[int, tuple[str, ...] | str] = {
    # Japanese, Chinese and Korean that is wrong or missing
    1: ("test_faults_engines.py::test_japanese_finds_anything_at_all",),
    2: ("test_faults_query.py::test_2_a_clause_beside_the_parsed_query_shows_what_not_hides",),
    3: ("test_faults_folding.py::test_kanji_are_not_taken_for_chinese_after_another_document",),
    4: ("test_faults_folding.py::test_a_reading_is_no_spelling",),
    5: ("test_faults_engines.py::test_a_word_is_not_found_in_pieces",),
    6: ("test_faults_folding.py::test_what_is_written_so_is_found_so",),
    7: ("test_faults_engines.py::test_short_words_are_neither_lost_nor_ignored",),
    8: ("test_faults_engines.py::test_short_words_are_neither_lost_nor_ignored",),
    9: ("test_faults_folding.py::test_a_small_tsu_before_a_blank_is_found",),
    10: ("test_faults_folding.py::test_old_forms_and_forms_of_names_are_one",),
    11: ("test_faults_folding.py::test_a_squared_month_is_indexed_and_makes_no_false_word",),
    12: ("test_faults_engines.py::test_there_are_no_stop_words",),
    # highlights
    13: ("test_faults_folding.py::test_full_width_blanks_shift_no_mark",),
    14: ("test_faults_folding.py::test_a_folding_that_changes_lengths_breaks_no_highlight",),
    15: (
        "test_faults_folding.py::test_a_snippet_is_cut_between_characters_beyond_the_first_plane",
    ),
    16: ("test_faults_folding.py::test_overlapping_terms_print_the_text_once",),
    17: ("test_faults_folding.py::test_a_degree_sign_shifts_no_mark",),
    18: (
        "test_faults_folding.py::test_a_term_is_no_expression_and_no_markup",
        "test_faults_query.py::test_18_the_keyword_is_used_as_a_pattern_in_the_highlight",
        "test_templates.py::test_no_text_gets_out_of_its_place",
    ),
    # what people type
    19: (
        "test_faults_query.py::test_19_punctuation_is_a_syntax_error",
        "test_faults_query.py::test_19_escaping_takes_wildcards_away",
        "test_faults_query.py::test_19_a_quoted_star_still_expands",
    ),
    20: ("test_faults_query.py::test_20_nested_parentheses_take_exponential_time",),
    21: (
        "test_faults_query.py::test_21_nesting_overflows_the_stack",
        "test_faults_query.py::test_21_very_many_alternatives_overflow_the_stack",
        "test_plan.py::test_engines_bear_the_largest_plans",
    ),
    22: ("test_faults_query.py::test_22_a_phrase_of_blanks_ends_the_server",),
    23: (
        "test_faults_query.py::test_23_a_prefix_expands_to_most_of_the_lexicon",
        "test_engine_budget.py::test_no_query_of_the_language_takes_long",
    ),
    # pages
    24: (
        "test_faults_paging.py::test_24_pages_of_equal_scores_repeat_and_lose_rows",
        "test_paging_under_fire.py::test_every_walk_sees_one_generation_whole",
    ),
    25: ("test_faults_paging.py::test_25_a_page_beyond_the_last_raises_or_shows_the_last",),
    26: ("test_faults_paging.py::test_26_a_garbled_page_number_is_an_error_of_the_server",),
    27: ("test_faults_engines.py::test_totals_and_pages_know_no_ten_thousand",),
    # locks, crashes, damage
    28: (
        "test_batch.py::test_what_stops_a_batch_puts_its_messages_back",
        "test_publisher.py::test_two_workers_at_once_are_safe_without_any_lease",
    ),
    29: (
        "test_publisher.py::test_of_many_at_once_one_gets_it",
        "test_generations.py::test_of_many_publishers_exactly_one_gets_the_number",
    ),
    30: ("test_faults_engines.py::test_a_reader_holds_no_lock_of_a_writer",),
    31: (
        "test_crash.py::test_killed_anywhere",
        "test_crash_database.py::test_a_server_that_is_killed_in_the_middle_of_a_batch_loses_nothing",
    ),
    32: (
        "test_engine_copies.py::test_a_damaged_index_is_an_error_not_the_end_of_the_process",
        "test_reader.py::test_damaged_files_are_an_error_of_the_index",
        "test_under_fire.py::test_publishing_under_readers_that_never_pause",
    ),
    33: (
        "test_crash.py::test_killed_between_every_two_steps",
        "test_faults_engines.py::test_no_deletion_is_lost_when_segments_merge_after_opening",
    ),
    34: (
        "test_web_trouble.py::test_a_damaged_index_is_503_and_not_ready",
        "test_rebuild.py::test_a_rebuild_replaces_an_index_that_cannot_be_read",
    ),
    35: (
        "test_crash_database.py::test_a_disk_that_is_full",
        "test_crash_database.py::test_writes_that_fail_drop_the_copy_and_nothing_else",
        "test_crash_database.py::test_what_a_crashed_run_left_does_not_fill_the_disk_for_ever",
        "test_generations.py::test_too_little_room_is_named_before_anything_is_written",
    ),
    36: (
        "test_reader.py::test_superseded_generations_are_closed_and_files_do_not_add_up",
        "test_engine_copies.py::test_files_stay_few_over_many_small_batches",
        "test_engine_copies.py::test_a_writer_ends_its_threads_and_frees_its_files",
    ),
    # freshness, swaps, memory, platforms
    37: (
        "test_faults_engines.py::test_what_is_committed_is_seen_by_the_next_reader",
        "test_engine_conformance.py::test_any_id_is_replaced_and_deleted_exactly",
    ),
    38: (
        "test_rebuild.py::test_what_is_indexed_during_a_rebuild_is_not_lost",
        "test_rebuild.py::test_going_back_while_batches_publish",
    ),
    39: ("test_generations.py::test_batches_on_clones_leave_every_original_as_it_was",),
    40: (
        "test_batch.py::test_a_batch_ends_at_its_limits_and_loses_nothing",
        "test_rebuild.py::test_a_rebuild_that_is_outrun_again_and_again_goes_on_from_where_it_was",
    ),
    41: (
        "test_plan.py::test_merging_is_rare_and_keeps_segments_few",
        "test_engine_copies.py::test_two_writers_cannot_have_one_index",
    ),
    42: "does not apply: Windows is not supported",
    # the ledger and the index; hooks
    43: (
        "test_faults_attach.py::test_fault_43_messages_that_were_flushed_do_not_read_as_indexed",
        "test_faults_attach.py::test_fault_43_a_busy_index_is_not_called_broken",
        "test_faults_attach.py::test_fault_43_truncate_and_cascades_are_found",
        "test_faults_attach.py::test_fault_43_a_replace_that_deletes_another_row_is_found",
    ),
    44: (
        "test_faults_attach.py::test_fault_44_bulk_statements_and_other_connections_are_heard",
        "test_faults_attach.py::test_fault_44_only_what_is_searched_or_shown_makes_work",
        "test_faults_attach.py::test_fault_44_one_table_in_two_indexes",
    ),
    # readers who do not see the page
    45: (
        "test_faults_paging.py::test_45_the_number_of_results_is_not_announced",
        "test_templates_in_browser.py::test_keys_alone_are_enough",
    ),
}
