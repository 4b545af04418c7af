"""GET /api/v1/suggest and /api/v1/words: what the index has, for who does not know it yet."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from sakuin.app.installed import parts_of
from sakuin.app.paragraph_index import PARAGRAPHS
from sakuin.app.search_shapes import Suggested
from sakuin.app.suggested import MOST_SUGGESTIONS, suggested

router = APIRouter(prefix="/api/v1")


class Typing(BaseModel):
    """What somebody has typed so far."""

    q: str = Field("", description="as typed; its last word is completed")
    index: str = Field(str(PARAGRAPHS.name), description="name of the index")
    most: int = Field(8, ge=1, le=MOST_SUGGESTIONS)


class Suggestions(BaseModel):
    """Queries that go on from what was typed, the most frequent first; each finds something."""

    index: str
    generation: int
    suggestions: list[Suggested]


@router.get("/suggest")
def suggest(request: Request, asked: Annotated[Typing, Query()]) -> Suggestions:
    """Complete what is being typed by words and phrases of the index."""
    parts = parts_of(request, asked.index)
    found = suggested(parts.reader, parts.index, asked.q, most=asked.most)
    return Suggestions(
        index=asked.index,
        generation=found.generation,
        suggestions=[
            Suggested(text=each.text, documents=each.documents) for each in found.suggestions
        ],
    )
