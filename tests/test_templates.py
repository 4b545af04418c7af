"""The pages as text: what they declare, what they hold, and that nothing gets out of its place."""

import re
import shutil
import subprocess
import sys
from dataclasses import fields, replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import get_args

import pytest
from jinja2 import Template, meta, nodes

from page_contexts import RICHEST, all_pages, results, search_page, with_text
from sakuin.app import contexts
from sakuin.app import render as rendering
from sakuin.app.contexts import AddPage, Context, Remark, SearchPage
from sakuin.app.messages import Messages
from sakuin.app.render import Lang, choose_language, environment, render, templates_folder
from sakuin.indexer.diagnostic import DiagnosticCode
from xss import PAYLOADS

ROOT = Path(__file__).resolve().parents[1]
TEMPLATES = ROOT / "templates"
PAGES = all_pages()
VOID = {"meta", "link", "input", "br", "img", "hr"}
LANGS: tuple[Lang, ...] = ("ja", "en")

every_page = pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)


class Outline(HTMLParser):
    """Reads a page into its tags with their attributes, and its text; refuses bad nesting."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"an attribute is there twice: {attrs}"
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    @property
    def skeleton(self) -> list[tuple[str, list[str]]]:
        return [(tag, sorted(attributes)) for tag, attributes in self.tags]

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def parse(name: str) -> nodes.Template:
    return environment().parse((TEMPLATES / name).read_text(encoding="utf-8"))


def reached(name: str) -> set[str]:
    """Return a template and all that it extends, includes and imports."""
    found, waiting = set[str](), [name]
    while waiting:
        current = waiting.pop()
        assert current is not None, f"{name} refers to a template by a computed name"
        if current not in found:
            found.add(current)
            waiting += [each for each in meta.find_referenced_templates(parse(current)) if each]
    return found


def bound(name: str) -> set[str]:
    """Return the names that a template itself gives a value: imports, loops, sets."""
    template, names = parse(name), set[str]()
    assigned = [each.target for each in template.find_all(nodes.Assign)]
    for target in assigned + [each.target for each in template.find_all(nodes.For)]:
        targets = target.items if isinstance(target, nodes.Tuple) else [target]
        names |= {each.name for each in targets if isinstance(each, nodes.Name)}
    for imported in template.find_all(nodes.FromImport):
        names |= {each if isinstance(each, str) else each[1] for each in imported.names}
    return names


@pytest.mark.parametrize("kind", get_args(Context))
def test_a_page_uses_just_what_its_context_declares(kind: type[Context]) -> None:
    """Both ways: nothing undeclared is used, nothing declared is useless."""
    declared = {field.name for field in fields(kind)} | {"t"}
    templates = reached(kind.template)
    own = set[str]().union(*(bound(name) for name in templates))
    used = set[str]().union(*(meta.find_undeclared_variables(parse(name)) for name in templates))
    assert own & declared == set()
    assert used - own == declared


def test_templates_read_only_declared_attributes() -> None:
    declared = {field.name for field in fields(Messages)}
    for value in vars(contexts).values():
        if isinstance(value, type) and value.__module__ == contexts.__name__:
            declared |= {
                field.name for field in getattr(value, "__dataclass_fields__", {}).values()
            }
    methods = {"isoformat", "get"}
    for path in TEMPLATES.glob("*.html"):
        read = {found.attr for found in parse(path.name).find_all(nodes.Getattr)}
        assert read <= declared | methods, path.name


def test_every_message_is_shown_somewhere() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in TEMPLATES.glob("*.html"))
    assert [f.name for f in fields(Messages) if f"t.{f.name}" not in source] == []


@pytest.mark.parametrize("lang", LANGS)
def test_every_code_has_its_sentence(lang: Lang) -> None:
    """A code that is added elsewhere cannot be forgotten here."""
    t = rendering.messages_in(lang)
    for told in (t.orders, t.notices, t.remarks, t.steps, t.delete_steps, t.explanations):
        kind = type(next(iter(told)))
        assert set(told) == set(kind)


def test_both_languages_differ_wherever_they_can() -> None:
    """A message left in the other language would be the same in both."""
    japanese, english = (rendering.messages_in(lang) for lang in LANGS)
    same = {
        f.name for f in fields(Messages) if getattr(japanese, f.name) == getattr(english, f.name)
    }
    assert same == {"name", "api", "no_indexer_remedy"}


@every_page
@pytest.mark.parametrize("lang", LANGS)
def test_a_page_is_well_formed_and_self_contained(page: Context, lang: Lang) -> None:
    """W2: no inline script or style, no other host, so that the strict policy holds."""
    outline = Outline(render(page, lang))
    assert outline.all("html") == [{"lang": lang}]
    ids = [attributes["id"] for _, attributes in outline.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for tag, attributes in outline.tags:
        assert "style" not in attributes
        assert not [name for name in attributes if name.startswith("on")]
        for name in {"href", "src", "action"} & set(attributes):
            assert re.match(r"/(?!/)|#main$", attributes[name] or ""), (tag, attributes)
        if named := attributes.get("aria-describedby") or attributes.get("for"):
            assert named in ids
    assert outline.all("style") == []
    assert [script["src"] for script in outline.all("script")] == ["/static/search.js"]
    assert len(outline.all("h1")) == 1
    assert len(outline.all("main")) == 1


@every_page
def test_every_page_has_the_search_box(page: Context) -> None:
    for lang in LANGS:
        outline = Outline(render(page, lang))
        [form] = [each for each in outline.all("form") if each.get("role") == "search"]
        assert (form["action"], form["method"]) == ("/search", "get")
        assert {"for": "q"} in outline.all("label")
        assert "検索" in outline.text
    assert ">検索</button>" in render(page, "ja")


def test_no_template_turns_escaping_off() -> None:
    """W1: nothing is ever marked as safe."""
    sources = [*TEMPLATES.rglob("*.html"), *(ROOT / "app").rglob("*.py")]
    assert len(sources) > 10
    for path in sources:
        source = path.read_text(encoding="utf-8")
        assert not re.search(r"\|\s*safe\b|Markup\(|autoescape false|autoescape=False", source)


@cache
def harmless_skeleton(name: str) -> list[tuple[str, list[str]]]:
    return Outline(render(with_text(PAGES[name], "x"), "en")).skeleton


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_text_gets_out_of_its_place(payload: str) -> None:
    """W1: whatever a field holds, the page has the same tags and attributes, and shows the text."""
    for name in RICHEST:
        hostile = Outline(render(with_text(PAGES[name], payload), "en"))
        assert hostile.skeleton == harmless_skeleton(name), name
    shown = Outline(render(with_text(PAGES["results"], payload), "en"))
    assert payload in shown.text
    assert payload + " " in [each.get("value") for each in shown.all("input")]


def test_the_proof_of_escaping_can_fail() -> None:
    raw = Template("<p>{{ text }}</p>")
    harmless = Outline(raw.render(text="x")).skeleton
    assert Outline(raw.render(text="<b>bold</b>")).skeleton != harmless


def test_a_script_address_becomes_no_link() -> None:
    [item] = results(items=results().items[:1]).items
    for bad in (
        "javascript:alert(1)",
        " javascript:alert(1)",
        "data:text/html,x",
        "JaVa\tScript:x",
    ):
        page = search_page(results=results(items=(replace(item, url=bad),)))
        assert bad not in [each.get("href") for each in Outline(render(page, "ja")).all("a")]


def test_hits_are_marked_without_added_blanks() -> None:
    pieces = (("a", True), (" b", False), ("c ", True), ("d", True))
    [item] = results(items=results().items[:1]).items
    page = search_page(results=results(items=(replace(item, pieces=pieces),)))
    assert "><mark>a</mark> b<mark>c </mark><mark>d</mark></p>" in render(page, "en")


def page_links(page: SearchPage, lang: Lang) -> str:
    found = re.search(r'<nav class="pages".*?</nav>', render(page, lang), re.DOTALL)
    assert found
    return found[0]


@pytest.mark.parametrize(
    ("lang", "label", "previous", "following"),
    [("ja", "ページ送り", "前へ", "次へ"), ("en", "Pages", "Prev", "Next")],
)
def test_page_links(lang: Lang, label: str, previous: str, following: str) -> None:
    nav = page_links(search_page(), lang)
    assert f'aria-label="{label}"' in nav
    assert f'<a rel="prev" href="/search?q=x&amp;page=6">{previous}</a>' in nav
    assert f'<a rel="next" href="/search?q=x&amp;page=8">{following}</a>' in nav
    assert re.findall(r'aria-current="page">(\d+)<', nav) == ["7"]
    numbers = re.findall(r">(\d+|…)<", nav)
    assert numbers == ["1", "…", *map(str, range(3, 12)), "…", "123"]
    first = page_links(search_page(results=results(previous_url=None)), lang)
    assert f'<span class="off">{previous}</span>' in first
    last = page_links(search_page(results=results(next_url=None)), lang)
    assert f'<span class="off">{following}</span>' in last


def test_every_page_says_how_fresh_it_is() -> None:
    """S6: the generation, the waiting changes, and what to do when nobody works on them."""
    for name in ("results", "box", "add", "paragraph", "receipt_waiting", "error"):
        assert "generation 42, 3 changes waiting" in Outline(render(PAGES[name], "en")).text
        assert "第42世代の索引、反映待ちの変更3件" in Outline(render(PAGES[name], "ja")).text
    remedy = "no indexer is running: start sakuin worker"
    assert remedy in Outline(render(PAGES["no_indexer"], "en")).text
    assert remedy not in Outline(render(PAGES["results"], "en")).text
    away = Outline(render(PAGES["database_away"], "en")).text
    assert "database cannot be reached" in away
    assert "generation 42" in away
    assert "the index alone" in away


def test_a_paused_queue_is_told_with_the_remedy() -> None:
    page = Outline(render(PAGES["paused"], "ja")).text
    assert "sakuin queue resume index:paragraphs" in page
    assert "一時停止" in page
    assert "sakuin worker" not in page


def test_an_idle_index_asks_for_no_worker() -> None:
    page = search_page(standing=contexts.Standing(7, waiting=0, has_indexer=False))
    assert "no indexer" not in render(page, "en")
    assert "generation 7, 0 changes waiting" in render(page, "en")


@pytest.mark.parametrize("name", [name for name in PAGES if name.startswith("receipt")])
def test_a_receipt_looks_again_only_until_it_is_settled(name: str) -> None:
    page = PAGES[name]
    refresh = '<meta http-equiv="refresh" content="1">'
    settled = name.endswith(("searchable", "failed"))
    assert (refresh in render(page, "ja")) is not settled
    assert render(page, "ja").count('aria-current="step"') == 1


def test_forms_come_back_with_what_was_typed() -> None:
    page = PAGES["add_refused"]
    assert isinstance(page, AddPage)
    page = replace(page, body="\n 一行目\n</textarea>", source='"x"')
    rendered = render(page, "ja")
    assert "required aria-invalid=\"true\" aria-describedby=\"problem\">\n\n 一行目\n&lt;/textarea&gt;</textarea>" in rendered  # fmt: skip  # noqa: E501
    assert 'value="&#34;x&#34;"' in rendered
    english = Outline(render(page, "en")).text
    assert "Not saved: the text is empty: write at least one character" in english


def test_a_remark_quotes_the_part_that_it_is_about_but_not_a_whole_query() -> None:
    code = DiagnosticCode.TOO_LONG
    whole, part = Remark(code, "q" * 9000), Remark(code, "p" * 9000)
    page = render(search_page(query="q" * 9000, results=None, remarks=(whole, part)), "en")
    assert page.count("q" * 41) == 9000 // 41
    assert re.findall("p{30,}", page) == ["p" * 39]


@pytest.mark.parametrize(
    ("header", "lang"),
    [
        (None, "ja"),
        ("", "ja"),
        ("ja", "ja"),
        ("ja-JP,ja;q=0.9,en;q=0.8", "ja"),
        ("en-GB,en;q=0.9,ja;q=0.8", "en"),
        ("en;q=0.5,ja;q=0.7", "ja"),
        ("fr,de;q=0.9", "en"),
        ("fr,ja;q=0.1", "ja"),
        ("ja;q=0,fr", "en"),
        ("*", "en"),
        ("ja;q=x,en;q=0.1", "en"),
        (",;,=;q=;;q=1e999,\udcff", "en"),
    ],
)
def test_language_is_the_readers(header: str | None, lang: Lang) -> None:
    assert choose_language(header) == lang


def test_a_checkout_uses_its_own_templates() -> None:
    assert templates_folder() == TEMPLATES


def test_an_installed_package_uses_the_templates_in_it(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "app" / "sakuin" / "app", tmp_path / "site" / "sakuin" / "app")
    shutil.copytree(TEMPLATES, tmp_path / "site" / "sakuin" / "app" / "templates")
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r})\n"
        "from sakuin.app.render import environment, templates_folder\n"
        "environment().get_template('search.html'); print(templates_folder())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.stderr == ""
    assert Path(done.stdout.strip()) == tmp_path / "site" / "sakuin" / "app" / "templates"


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_have_contrast(scheme: str) -> None:
    """Text 4.5:1 on every ground that it stands on, borders of fields 3:1 (WCAG AA)."""
    sheet = (TEMPLATES / "static" / "style.css").read_text(encoding="utf-8")
    blocks = re.findall(r":root \{(.*?)\}", sheet, re.DOTALL)
    block = blocks[0 if scheme == "light" else 1]
    colour = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))

    def ratio(one: str, other: str) -> float:
        light, dark = sorted((luminance(colour[one]), luminance(colour[other])), reverse=True)
        return (light + 0.05) / (dark + 0.05)

    for ground in ("paper", "panel", "notice", "bad"):
        assert ratio("ink", ground) >= 4.5
    for text in ("soft", "accent", "bad-line"):
        assert ratio(text, "paper") >= 4.5
    assert ratio("mark-ink", "mark") >= 4.5
    assert ratio("on-accent", "accent") >= 4.5
    assert ratio("field", "paper") >= 3
