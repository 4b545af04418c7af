"""From a context to a page: the one place that knows the template engine and its folder."""

import re
from collections.abc import Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Literal

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from sakuin.app.contexts import Context
from sakuin.app.messages import Messages
from sakuin.app.messages_en import ENGLISH
from sakuin.app.messages_ja import JAPANESE

Lang = Literal["ja", "en"]

_WEB_ADDRESS = re.compile(r"https?://|[/?#]")
_KANA = re.compile("[\u3041-\u30ff\uff66-\uff9f]")


def render(context: Context, lang: Lang) -> str:
    """Return the page of this context as HTML, every value escaped."""
    values = {field.name: getattr(context, field.name) for field in fields(context)}
    template = environment().get_template(context.template)
    page = template.render(values, t=messages_in(lang))
    return page.replace("\0", "\ufffd")  # HTML has no NUL, not even an escaped one


def messages_in(lang: Lang) -> Messages:
    """Return the messages of a language."""
    return JAPANESE if lang == "ja" else ENGLISH


def choose_language(accept_language: str | None) -> Lang:
    """Return the language that an Accept-Language header likes best.

    Without a header it is Japanese; a reader of neither language gets English.
    """
    if not accept_language or not accept_language.strip():
        return "ja"
    best, lang = 0.0, "en"
    for part in accept_language.split(","):
        name, _, parameter = part.partition(";")
        primary = name.strip().lower().partition("-")[0]
        if primary in ("ja", "en") and (quality := _quality(parameter)) > best:
            best, lang = quality, primary
    return "ja" if lang == "ja" else "en"


@cache
def environment() -> Environment:
    """Make the template environment: escapes everything, refuses unknown names."""
    made = Environment(
        loader=FileSystemLoader(templates_folder()),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.tests["web_address"] = _is_web_address
    made.tests["usable"] = _is_usable
    made.filters["tongue"] = _tongue
    return made


def templates_folder() -> Path:
    """Return the folder of the templates: the checkout's own, else the one in the package."""
    here = Path(__file__).resolve().parent
    checkout = here.parents[2] / "templates"
    is_checkout = here.parents[1].name == "app" and (checkout / "base.html").is_file()
    return checkout if is_checkout else here / "templates"


def static_folder() -> Path:
    """Return the folder of the style sheet, the script and the icon."""
    return templates_folder() / "static"


def _is_web_address(url: str) -> bool:
    """Tell whether a link may lead there: `javascript:` and its kin are no addresses."""
    return _WEB_ADDRESS.match(url) is not None


def _is_usable(example: str, names: Sequence[str]) -> bool:
    """Tell whether an example of a query can be asked of an index with fields of these names."""
    name, colon, _ = example.partition(":")
    return not colon or name in names


def _tongue(text: str) -> str:
    """Return the `lang` of a stored text: kana is Japanese, "" says that nobody knows."""
    return "ja" if _KANA.search(text) else ""


def _quality(parameter: str) -> float:
    name, _, value = parameter.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0
