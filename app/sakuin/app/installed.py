"""The installation that an application was started with, and its parts, for request handlers."""

from fastapi import Request

from sakuin.app.assemble import Installation, Parts
from sakuin.app.catalogue import NoSuchIndex
from sakuin.app.paragraph_index import PARAGRAPHS
from sakuin.app.receipt import Receipt, UnknownReceipt


def installation_of(request: Request) -> Installation:
    """Return the installation of this application."""
    found: Installation = request.app.state.installation
    return found


def parts_of(request: Request, index: str = PARAGRAPHS.name) -> Parts:
    """Return the parts of an index; NoSuchIndex names those that there are."""
    return installation_of(request).parts(index)


def parts_of_receipt(request: Request, receipt: Receipt) -> Parts:
    """Return the parts of a receipt's index; UnknownReceipt where there is no such index."""
    try:
        return parts_of(request, receipt.index)
    except NoSuchIndex as error:
        raise UnknownReceipt(str(error)) from None
