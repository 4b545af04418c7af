"""Changes of a tantivy index, and what a document is in it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, Self, TypeVar

from sakuin.indexer.document import Document, Fields, FilterKind
from sakuin.indexer.exact_values import (
    check_document,
    keyword_in,
    kinds_of,
    place_key,
    place_number,
    text_key,
)
from sakuin.indexer.facet_steps import day_of, month_of
from sakuin.indexer.library_trouble import as_os_error
from sakuin.indexer.words import cut_text

# No field of an index can have such a name: it is no identifier.
TEXT: Final = "text:"
TOKENS: Final = "tokens:"
BACKWARDS: Final = "backwards:"
WORDS: Final = "words:"
VALUE: Final = "value:"
KEPT: Final = "kept:"
MONTH: Final = "month:"
DAY: Final = "day:"
ID_KEY: Final = "order_id"
PLACE_KEY: Final = "order_place"
PLACE_NUMBER: Final = "order_number"

_AT_ONCE = 256
_Item = TypeVar("_Item")


class TantivyWriter:
    """The contract of `sakuin.indexer.engine.Writer` over tantivy's own writer.

    `new` makes an empty tantivy document, `with_ids` the query for the documents with some ids;
    `before` reads what the index held when the writer was opened.
    """

    def __init__(
        self,
        writer: Any,
        fields: Fields,
        new: Callable[[], Any],
        with_ids: Callable[[Sequence[str]], Any],
        before: Any,
    ) -> None:
        self._writer, self._fields, self._before = writer, fields, before
        self._added: set[str] = set()
        self._new, self._with_ids = new, with_ids
        self._kinds, self._keyword = kinds_of(fields), keyword_in(fields.folding)
        # Made once, not once a document: names take a fifth of the time of filling one.
        self._tokens = [(name, TOKENS + name, BACKWARDS + name) for name in fields.searched]
        self._texts = [(name, TEXT + name) for name in fields.searched + fields.stored]
        self._steps = {name: (MONTH + name, DAY + name) for name in times(fields)}
        self._kept = {each.name: (VALUE + each.name, KEPT + each.name) for each in fields.filters}

    def upsert(self, documents: Iterable[Document]) -> None:
        """Add each document, replacing whatever has its id."""
        for group in groups(documents):
            add = self._open_writer().add_document
            latest = {document.id: document for document in group}
            if self._may_hold(latest):
                self.delete(latest)
            self._added.update(latest)
            for document in latest.values():
                made = self._filled(document)
                try:
                    add(made)
                except BaseException:  # to enter `as_os_error` once a document takes 1.5 µs
                    with as_os_error("tantivy"):
                        raise

    def _may_hold(self, ids: Mapping[str, Document]) -> bool:
        """Tell whether any must be replaced: deleting what is not there costs a tenth of a load."""
        if not self._added.isdisjoint(ids):
            return True
        with as_os_error("tantivy"):
            held = self._before.doc_freq
            return self._before.num_docs > 0 and any(held("id", one) for one in ids)

    def delete(self, ids: Iterable[str]) -> None:
        """Remove the documents with these ids."""
        writer = self._open_writer()
        for group in groups(ids):
            found = self._with_ids(group)
            with as_os_error("tantivy"):
                writer.delete_documents_by_query(found)

    def commit(self) -> None:
        """Write everything to files of the directory and close.

        tantivy merges as soon as 8 segments are of a size, all up to 10,000 documents being of
        one size; from Python that cannot be changed, nor be left to later: a merge would go on
        writing files into a sealed copy. So it is waited for. Of one-row batches every seventh
        merges the rows before it (4 ms more than the 10 ms of the others); one that completes
        a set of 8 larger segments takes 0.3 s for 10,000 documents, 1.1 s for 70,000.
        """
        writer = self._open_writer()
        with as_os_error("tantivy"):
            writer.commit()
            self._writer = self._before = None
            writer.wait_merging_threads()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        """Abandon whatever was not committed; end tantivy's threads and free its lock."""
        writer, self._writer, self._before = self._writer, None, None
        if writer is not None:
            with as_os_error("tantivy"):
                writer.wait_merging_threads()

    def _filled(self, document: Document) -> Any:
        fields, values, made = self._fields, document.values, self._new()
        check_document(document, self._kinds, fields.folding)
        made.add_text("id", document.id)
        made.add_integer("n", document.number)
        made.add_integer("at", document.at)
        if fields.timed:
            self._fill_steps(made, "created", document.at)
        made.add_unsigned("digest", document.digest)
        self._fill_texts(made, document.text)
        for name, value in values.items():
            value_name, kept_name = self._kept[name]
            if isinstance(value, str):
                made.add_text(value_name, self._keyword(value))
                made.add_bytes(kept_name, value.encode())
            else:
                made.add_integer(value_name, value)
                if self._kinds[name] is FilterKind.TIME:
                    self._fill_steps(made, name, value)
        if fields.text_ids:
            made.add_text(ID_KEY, text_key(document.id))
        if fields.place:
            made.add_text(PLACE_KEY, place_key(values, fields.place))
            made.add_integer(PLACE_NUMBER, place_number(values, fields.place))
        return made

    def _fill_texts(self, made: Any, text: Mapping[str, str]) -> None:
        words: set[str] = set()
        for name, tokens_name, backwards_name in self._tokens:
            tokens, backwards, found = cut_text(text[name], self._fields.folding)
            words = words | found if words else found
            made.add_text(tokens_name, tokens)
            if backwards:
                made.add_text(backwards_name, backwards)
        if words:
            made.add_text(WORDS, " ".join(words))
        for name, text_name in self._texts:
            made.add_bytes(text_name, text[name].encode())

    def _fill_steps(self, made: Any, name: str, moment: int) -> None:
        """Keep what a facet of time counts by; a moment without a name is in no step."""
        day = day_of(moment)
        if day is not None:
            month_name, day_name = self._steps[name]
            made.add_integer(month_name, month_of(day))
            made.add_integer(day_name, day)

    def _open_writer(self) -> Any:
        if self._writer is None:
            raise ValueError("this writer is closed: open another one")
        return self._writer


def times(fields: Fields) -> list[str]:
    """Return the names of the filters that are times, `created` too."""
    named = [each.name for each in fields.filters if each.kind is FilterKind.TIME]
    return ["created", *named] if fields.timed else named


def from_stored(stored: Any, fields: Fields) -> Document:
    """Return the document that was made into this stored one."""
    first: Callable[[str], Any] = stored.get_first
    names = fields.searched + fields.stored
    text = {name: first(TEXT + name).decode() for name in names}
    values: dict[str, str | int] = {}
    for each in fields.filters:
        is_keyword = each.kind is FilterKind.KEYWORD
        kept = first((KEPT if is_keyword else VALUE) + each.name)
        if kept is not None:
            values[each.name] = kept.decode() if is_keyword else kept
    return Document(first("id"), first("n"), first("at"), first("digest"), text, values)


def groups(items: Iterable[_Item]) -> Iterator[list[_Item]]:
    """Cut into lists short enough to be worked at once, of documents or of ids."""
    rest = iter(items)
    while group := list(islice(rest, _AT_ONCE)):
        yield group
