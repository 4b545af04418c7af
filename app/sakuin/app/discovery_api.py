"""GET /api/v1/suggest and /api/v1/words: what the index has, for who does not know it yet."""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Request
from pydantic import BaseModel, Field

from sakuin.app.index_words import MOST_DAYS, MOST_WORDS, index_words, words_json
from sakuin.app.installed import installation_of, parts_of
from sakuin.app.paragraph_index import PARAGRAPHS
from sakuin.app.past_suggestions import suggested_with_past
from sakuin.app.present import suggested_json
from sakuin.app.search_shapes import Suggested
from sakuin.app.suggested import MOST_SUGGESTIONS

router = APIRouter(prefix="/api/v1")


class Typing(BaseModel):
    """What somebody has typed so far."""

    q: str = Field("", description="as typed; its last word is completed")
    index: str = Field(str(PARAGRAPHS.name), description="name of the index")
    most: int = Field(8, ge=1, le=MOST_SUGGESTIONS)


class Suggestions(BaseModel):
    """Queries that go on from what was typed; each finds something.

    What others asked comes first, where the search log is on; then what finds most.
    """

    index: str
    generation: int
    suggestions: list[Suggested]


@router.get("/suggest")
def suggest(request: Request, asked: Annotated[Typing, Query()]) -> Suggestions:
    """Complete what is being typed by words and phrases of the index."""
    parts = parts_of(request, asked.index)
    found = suggested_with_past(parts, asked.q, most=asked.most)
    return Suggestions.model_validate(suggested_json(found, asked.index))


class WordsAsked(BaseModel):
    """Which words of an index are asked for."""

    index: str = Field(str(PARAGRAPHS.name), description="name of the index")
    start: str = Field("", max_length=100, description="how the words begin")
    rising: int | None = Field(
        None, ge=1, le=MOST_DAYS, description="words that are more frequent in the last days"
    )
    most: int = Field(20, ge=1, le=MOST_WORDS)


class Word(BaseModel):
    """A word, folded, and how many documents have it; of a rising one since then, and before."""

    word: str
    documents: int
    before: int | None = None


class Words(BaseModel):
    """Words of an index, the most frequent first, or those that rise most."""

    index: str
    generation: int
    words: list[Word]


@router.get("/words", response_model_exclude_none=True)
def words(request: Request, asked: Annotated[WordsAsked, Query()]) -> Words:
    """Return the words of an index, with exact numbers of documents. Two at once are answered."""
    parts = parts_of(request, asked.index)
    turns = installation_of(request).heavy_questions
    if not turns.acquire(blocking=False):
        busy = "words are being counted for others: ask again in a moment"
        raise HTTPException(503, busy, headers={"Retry-After": "1"})
    try:
        found = index_words(
            parts.reader,
            parts.index,
            start=asked.start,
            rising_days=asked.rising,
            most=asked.most,
        )
    finally:
        turns.release()
    return Words.model_validate(words_json(found, asked.index))
