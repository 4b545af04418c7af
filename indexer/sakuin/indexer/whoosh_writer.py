"""Changes of a whoosh index: each document replaces the one that has its id."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, Self

from sakuin.indexer.document import Document, Fields, FilterKind
from sakuin.indexer.engine import Order
from sakuin.indexer.exact_values import check_document, keyword_in, kinds_of, place_key
from sakuin.indexer.words import cut_text


class WhooshWriter:
    """The contract of `sakuin.indexer.engine.Writer` over whoosh's own writer.

    `merge` is whoosh's: it gets the writer and the segments, and returns those that stay.
    """

    def __init__(self, writer: Any, fields: Fields, merge: Callable[..., object]) -> None:
        self._writer, self._fields, self._merge = writer, fields, merge
        self._reader = writer.reader()
        self._added: dict[str, int] = {}

    def upsert(self, documents: Iterable[Document]) -> None:
        """Add each document, replacing whatever has its id."""
        writer = self._open_writer()
        for document in documents:
            values = self._values(document)
            self.delete([document.id])
            self._added[document.id] = writer.docnum
            writer.add_document(**values)

    def delete(self, ids: Iterable[str]) -> None:
        """Remove the documents with these ids."""
        writer = self._open_writer()
        for one in ids:
            earlier = self._added.pop(one, None)
            if earlier is not None:
                writer.newsegment.delete_document(earlier)
            elif ("id", term := one.encode()) in self._reader:
                for number in list(self._reader.postings("id", term).all_ids()):
                    writer.delete_document(number)

    def commit(self) -> None:
        """Write everything to files of the directory and close."""
        self._closed().commit(mergetype=self._merge)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        if self._writer is not None:
            self._closed().cancel()

    def _closed(self) -> Any:
        writer = self._open_writer()
        self._reader.close()
        self._writer = self._reader = None
        return writer

    def _values(self, document: Document) -> dict[str, object]:
        fields = self._fields
        check_document(document, kinds_of(fields), fields.folding)
        values: dict[str, object] = {
            "id": document.id,
            "numbers": _numbers(document, fields),
            "texts": [document.text[name] for name in fields.searched + fields.stored],
            "kept": {n: v for n, v in document.values.items() if isinstance(v, str)} or None,
        }
        words: set[str] = set()
        for name in fields.searched:
            tokens, backwards, found = cut_text(document.text[name], fields.folding)
            words |= found
            values[token_field(fields, name)] = tokens
            values[token_field(fields, name, backwards=True)] = backwards
        values[WORDS] = " ".join(words)
        for name, value in document.values.items():
            if isinstance(value, str):
                values[keyword_field(fields, name)] = keyword_in(fields.folding)(value)
        if fields.text_ids:
            values["order_id"] = document.id.encode()
        if fields.place:
            values["order_place"] = place_key(document.values, fields.place).encode()
        return values

    def _open_writer(self) -> Any:
        if self._writer is None:
            raise ValueError("this writer is closed: open another one")
        return self._writer


# whoosh makes file names of the names of fields: they are named by their place.
WORDS: Final = "words"


def token_field(fields: Fields, name: str, *, backwards: bool = False) -> str:
    """Name whoosh's field for the tokens of a searched field, or for its words backwards."""
    return f"{'b' if backwards else 't'}{fields.searched.index(name)}"


def keyword_field(fields: Fields, name: str) -> str:
    """Name whoosh's field for the values of a keyword filter."""
    return "id" if name == "id" else f"k{[each.name for each in fields.filters].index(name)}"


def number_filters(fields: Fields) -> list[str]:
    """Return the names of the filters whose values stand among a document's numbers."""
    return [each.name for each in fields.filters if each.kind is not FilterKind.KEYWORD]


def number_getter(fields: Fields, name: str) -> Callable[[Sequence[Any]], int | None]:
    """Return what finds the value of a number or time filter among a document's numbers."""
    if name in _ALWAYS:
        return itemgetter(_ALWAYS[name])
    at = 3 + 2 * number_filters(fields).index(name)
    return lambda numbers: numbers[at + 1] if numbers[at] else None


def from_stored(stored: Mapping[str, Any], numbers: Sequence[Any], fields: Fields) -> Document:
    """Return the document that has these stored values and numbers."""
    values: dict[str, str | int] = dict(stored.get("kept") or {})
    for name in number_filters(fields):
        if (value := number_getter(fields, name)(numbers)) is not None:
            values[name] = value
    text = dict(zip(fields.searched + fields.stored, stored["texts"], strict=True))
    return Document(stored["id"], numbers[0], numbers[1], numbers[2], text, values)


def key_of(reader: Any, fields: Fields, order: Order) -> Callable[[int], tuple[Any, ...]]:
    """Return what gives the key of a document in an order other than relevance: all differ."""
    numbers = reader.column_reader("numbers")
    ids = reader.column_reader("order_id") if fields.text_ids else None
    places = reader.column_reader("order_place") if order is Order.SOURCE else None
    line = number_getter(fields, fields.place[1]) if places is not None and fields.place else None
    sign = -1 if order is Order.NEWEST else 1

    def key(at: int) -> tuple[Any, ...]:
        row = numbers[at]
        one = row[0] if ids is None else ids[at]
        if order is Order.ID:
            return (one,)
        if places is not None and line:
            return (places[at], line(row) or 0, one)
        return (sign * row[1], one)

    return key


_ALWAYS = {"id": 0, "created": 1}


def _numbers(document: Document, fields: Fields) -> tuple[int, ...]:
    """Return number, at, digest, then for each filter whether it has a value, and the value."""
    numbers = [document.number, document.at, document.digest]
    for name in number_filters(fields):
        numbers += [name in document.values, int(document.values.get(name, 0))]
    return tuple(numbers)
