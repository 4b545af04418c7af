"""Reads a schedule as people write it: cron, or plain words in English or Japanese."""

import difflib
import re
import unicodedata
from functools import lru_cache

from sakuin.queue.recurring import words_en, words_ja
from sakuin.queue.recurring.schedule import MOST_CHARACTERS, Cron, Schedule
from sakuin.queue.recurring.zones import BadSchedule, open_zone

_MACROS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_CRON = re.compile(r"[0-9*][0-9*,/#A-Za-z-]*( .*)?")
_KANJI_OR_KANA = re.compile("[\u3005\u3007\u3040-\u30ff\u3400-\u9fff]")


@lru_cache(maxsize=4096)
def parse_schedule(text: str, zone: str) -> Schedule:
    """Return the schedule that the text says, by the clock of the time zone.

    A cron expression (five fields, or @hourly, @daily, @weekly, @monthly, @yearly), or words of a
    small closed grammar: 'every day at noon', 'every 5 minutes', 毎日正午, 5分ごと; see EXAMPLES in
    `words_en` and `words_ja`. Letter case, full-width forms and kanji numerals do not matter.
    What is not in the grammar is never guessed: raises BadSchedule with the nearest examples.
    """
    open_zone(zone)
    folded = " ".join(unicodedata.normalize("NFKC", text[: MOST_CHARACTERS + 1]).lower().split())
    if not folded or len(text) > MOST_CHARACTERS:
        raise BadSchedule(f"schedule of {len(text)} letters: use 1 to {MOST_CHARACTERS}")
    if folded in _MACROS:
        return Cron(_MACROS[folded], zone)
    is_japanese = bool(_KANJI_OR_KANA.search(folded))
    if not is_japanese and _CRON.fullmatch(folded):
        return Cron(folded, zone)
    try:
        if is_japanese:
            said = words_ja.schedule_said(folded.replace(" ", ""), zone)
        else:
            said = words_en.schedule_said(folded, zone)
    except BadSchedule as error:
        raise BadSchedule(f"schedule {text!r}: {error}") from None
    if said is None:
        examples = words_ja.EXAMPLES if is_japanese else words_en.EXAMPLES
        near = difflib.get_close_matches(folded, examples, 4, 0.3) or examples[:4]
        raise BadSchedule(
            f"schedule {text!r} is not understood: write it as {', '.join(map(repr, near))}, or in "
            "cron, as '30 3 * * *'"
        )
    return said
