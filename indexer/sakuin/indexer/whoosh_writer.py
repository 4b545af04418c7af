"""Changes of a whoosh index: each document replaces the one that has its id."""

from collections.abc import Callable, Iterable
from typing import Any, Self

from sakuin.indexer.document import Document, Fields
from sakuin.indexer.fold import fold
from sakuin.indexer.tokens import token_text


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
        texts = [document.text[name] for name in self._fields.searched + self._fields.stored]
        numbers = (document.number, document.at, document.digest)
        values: dict[str, object] = {"id": document.id, "numbers": numbers, "texts": texts}
        for name, text in zip(field_names(self._fields), texts, strict=False):
            values[name] = token_text(fold(text))
        return values

    def _open_writer(self) -> Any:
        if self._writer is None:
            raise ValueError("this writer is closed: open another one")
        return self._writer


def field_names(fields: Fields) -> list[str]:
    """Name the searched fields by their place, since whoosh makes file names of them."""
    return [f"t{place}" for place in range(len(fields.searched))]
