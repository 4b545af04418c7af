"""Frequent phrases that begin with a text, learned from what follows it in some texts.

A phrase ends where a reader would let it: at the end of a word, of a run of kanji or katakana, of
a sentence; inside a run of kanji, Hangul or Thai, which shows no words, where the texts go on in
many ways. So it needs no dictionary, and works for every script.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sakuin.indexer.grapheme import cut_before
from sakuin.indexer.scripts import Script, script_of

_PARTICLES = "のはがをにでともへや"  # they join what is before them to what follows
_LONGEST, _LONGEST_UNSPACED = 24, 12  # characters beyond what was typed
_MOST_BLANKS = 2
_MOST_PLACES, _MOST_LOOKS = 2, 200  # in one text
_JOINERS = "-'’._/@+#&:=・"
_LEADING_VOWELS = "เแโใไເແໂໃໄ"
_WITHOUT_WORDS = (Script.KANJI, Script.HANGUL, Script.OTHER)
_BRANCHES, _BRANCHING_TEXTS, _MOST_SHARE = 3, 4, 0.6


@dataclass(frozen=True, slots=True)
class Place:
    """Where the typed piece stands: in which text, from where, and how far a phrase may reach."""

    text: int
    start: int
    reach: int


def phrases_of(settled: Sequence[str], piece: str, most: int) -> tuple[str, ...]:
    """Return phrases longer than a folded piece that begin with it, in settled texts.

    Those in most of the texts come first; one that a single text holds only where few texts hold
    the piece. Where a phrase and a longer one stand in as many texts, only the longer is given.
    """
    places = _places(settled, piece)
    least = 2 if len({place.text for place in places}) > most else 1
    counts: dict[str, int] = {}
    groups = {piece: places}
    while groups:
        groups = {
            phrase: group
            for start, group in groups.items()
            for phrase, group in _longer(settled, start, group).items()
            if len({place.text for place in group}) >= least
        }
        for phrase, group in groups.items():
            count = len({place.text for place in group})
            if _is_sensible(settled, phrase, group, count, least):
                counts[phrase] = count
    ranked = sorted(without_chains(counts).items(), key=lambda each: (-each[1], each[0]))
    return tuple(phrase for phrase, _ in ranked[:most])


def _longer(settled: Sequence[str], start: str, group: Sequence[Place]) -> dict[str, list[Place]]:
    """Return the phrases that are longer by one character, each with its places."""
    longer: dict[str, list[Place]] = {}
    for place in group:
        at = place.start + len(start)
        if at < place.reach:
            longer.setdefault(start + settled[place.text][at], []).append(place)
    return longer


def _is_sensible(
    settled: Sequence[str], phrase: str, group: Sequence[Place], count: int, least: int
) -> bool:
    """Tell whether so many of the texts let the phrase end where it does."""
    if script_of(phrase[-1]) in (Script.BLANK, Script.SIGN) or _hangs(phrase):
        return False
    stops = [(settled[place.text], place.start + len(phrase)) for place in group]
    if sum(_ends(text, stop) for text, stop in stops) >= least:
        return True
    following = Counter(text[stop : stop + 1] for text, stop in stops)
    return count >= _BRANCHING_TEXTS and _branches(phrase, following)


def _places(settled: Sequence[str], piece: str) -> list[Place]:
    """Return places that begin a run of one script; all, where few do so."""
    starting: list[Place] = []
    inside: list[Place] = []
    for number, text in enumerate(settled):
        found: tuple[list[int], list[int]] = ([], [])
        for at in starts(text, piece):
            before = script_of(text[at - 1]) if at else Script.BLANK
            goes_on = before is script_of(piece[0]) and before is not Script.SIGN
            found[goes_on].append(at)
            if len(found[0]) == _MOST_PLACES or len(found[1]) == 4 * _MOST_PLACES:
                break
        starting += [_place(number, text, at, piece) for at in found[0]]
        inside += [_place(number, text, at, piece) for at in found[1][:_MOST_PLACES]]
    is_enough = 4 * len({place.text for place in starting}) >= len(
        {place.text for place in starting + inside}
    )
    return starting if is_enough else sorted(starting + inside, key=lambda each: each.text)


def starts(text: str, piece: str) -> Iterator[int]:
    """Yield where a folded piece stands in a settled text, at a word edge if it needs one.

    Looks at 200 places at most.
    """
    needs_edge = script_of(piece[0]) is Script.SPACED
    at, looks = text.find(piece), 0
    while at >= 0 and looks < _MOST_LOOKS:
        looks += 1
        if not (needs_edge and at and script_of(text[at - 1]) is Script.SPACED):
            yield at
        at = text.find(piece, at + 1)


def _place(number: int, text: str, start: int, piece: str) -> Place:
    """Return a place, with how far a phrase may go on: not beyond a sentence or many words."""
    blanks = 0
    behind = start + len(piece)
    limit = min(len(text), behind + _LONGEST)
    for at in range(behind, limit):
        script = script_of(text[at])
        blanks += script is Script.BLANK
        is_between = script not in (Script.BLANK, Script.SIGN) or _joins(text, at)
        if not is_between or blanks > _MOST_BLANKS:
            return Place(number, start, at)
        if not blanks and at - behind >= _LONGEST_UNSPACED and script is not Script.SPACED:
            return Place(number, start, at)
    return Place(number, start, limit)


def _joins(text: str, at: int) -> bool:
    """Tell whether a blank or sign is between two parts of one phrase."""
    if at == 0 or at + 1 >= len(text):
        return False
    beside = {script_of(text[at - 1]), script_of(text[at + 1])}
    if text[at].isspace():
        return beside <= {Script.SPACED, Script.HANGUL}
    return text[at] in _JOINERS and not beside & {Script.BLANK, Script.SIGN}


def _ends(text: str, stop: int) -> bool:
    """Tell whether a run of one script ends there."""
    before = script_of(text[stop - 1])
    after = script_of(text[stop]) if stop < len(text) else Script.BLANK
    if after is Script.HIRAGANA and before is Script.KANJI:
        return text[stop] in _PARTICLES  # elsewhere the word goes on: 食べる
    return after is not before


def _hangs(phrase: str) -> bool:
    """Tell whether a phrase ends in particles, which belong to what would follow."""
    rest = phrase.rstrip(_PARTICLES)
    return 0 < len(rest) < len(phrase) and script_of(rest[-1]) is not Script.HIRAGANA


def _branches(phrase: str, following: Counter[str]) -> bool:
    """Tell whether the texts go on in so many ways that a word is likely to end here."""
    if script_of(phrase[-1]) not in _WITHOUT_WORDS or phrase[-1] in _LEADING_VOWELS:
        return False
    most = _MOST_SHARE * following.total()
    if len(following) < _BRANCHES or max(following.values()) > most:
        return False
    return all(cut_before(phrase + each, len(phrase)) == len(phrase) for each in following)


def without_chains(counts: dict[str, int]) -> dict[str, int]:
    """Leave out what a longer phrase of the same number begins with."""
    chained = {
        longer[:end]
        for longer, count in counts.items()
        for end in range(1, len(longer))
        if counts.get(longer[:end]) == count
    }
    return {phrase: count for phrase, count in counts.items() if phrase not in chained}
