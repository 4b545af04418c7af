"""The pages in a real browser: no script gets in, the strict policy holds, keys are enough."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from selenium.webdriver import ActionChains, Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from browser import complaints, open_browser, show_as
from page_contexts import RICHEST, all_pages, with_text
from sakuin.app.render import render, static_folder
from xss import PAYLOADS

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
PAGES = all_pages()
KINDS = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml", "json": "text/json"}
CONTROL = "<!doctype html><p style='color:red'><img src=x onerror=window.pwned=1>"


class Site:
    """Pages by address on a port of this host, with or without the strict policy."""

    def __init__(self, port: int) -> None:
        self.origin = f"http://127.0.0.1:{port}"
        self.pages: dict[str, str] = {"/control": CONTROL}
        self.policy = POLICY
        self.asked: list[str] = []

    def put(self, pages: Mapping[str, str]) -> None:
        """Add pages to those that are served."""
        self.pages |= {f"/{name}": page for name, page in pages.items()}

    def answer(self, address: str) -> tuple[str, bytes] | None:
        """Return what is at an address: its kind and its content."""
        path = urlsplit(address).path
        self.asked.append(address)
        if path.startswith("/static/"):
            return KINDS[path.rpartition(".")[2]], (static_folder() / path[8:]).read_bytes()
        page = self.pages.get(path)
        return ("text/html; charset=utf-8", page.encode()) if page is not None else None


@contextmanager
def serving() -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer = served.answer(self.path)
            self.send_response(200 if answer else 404)
            kind, content = answer or ("text/plain", b"")
            self.send_header("Content-Type", kind)
            if served.policy:
                self.send_header("Content-Security-Policy", served.policy)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Stay silent."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        served = Site(server.server_port)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def shared_browser() -> Iterator[Chrome]:
    with open_browser() as driver:
        yield driver


@pytest.fixture
def browser(shared_browser: Chrome) -> Chrome:
    show_as(shared_browser, width=1280)
    return shared_browser


@pytest.fixture(scope="module")
def site_of_module() -> Iterator[Site]:
    with serving() as site:
        site.put({name: render(page, "ja") for name, page in PAGES.items()})
        site.put({"search": site.pages["/results"], "paragraphs/new": site.pages["/add"]})
        yield site


@pytest.fixture
def site(site_of_module: Site) -> Site:
    site_of_module.policy = POLICY
    site_of_module.asked.clear()
    return site_of_module


def focused(driver: Chrome) -> WebElement:
    return driver.switch_to.active_element


def press(driver: Chrome, *keys: str) -> None:
    ActionChains(driver).send_keys(*keys).perform()


def arrives(driver: Chrome, path: str) -> str:
    """Wait until the browser is at this path, and return its whole address."""
    WebDriverWait(driver, 10).until(lambda d: urlsplit(d.current_url).path == path)
    return driver.current_url


def test_no_stored_text_runs_a_script(browser: Chrome, site: Site) -> None:
    """W1: escaping alone holds, without the policy; the control shows that a script would run."""
    site.policy = ""
    was_run = "return window.pwned !== undefined || document.querySelector('iframe') !== null"
    browser.get(site.origin + "/control")
    WebDriverWait(browser, 10).until(lambda d: d.execute_script(was_run))
    site.asked.clear()
    for number, payload in enumerate(PAYLOADS):
        for name in ("remarks", "paragraph_refused"):
            hostile = f"hostile/{number}/{name}"
            site.put({hostile: render(with_text(PAGES[name], payload), "ja")})
            browser.get(f"{site.origin}/{hostile}")
            assert not browser.execute_script(was_run), payload
            assert urlsplit(browser.current_url).path == f"/{hostile}", payload
    places = {urlsplit(address).path.split("/")[1] for address in site.asked}
    assert places <= {"hostile", "static", "favicon.ico"}


def test_every_page_keeps_to_the_strict_policy(browser: Chrome, site: Site) -> None:
    """W2: nothing inline, nothing from elsewhere; and the style does arrive."""
    browser.get(site.origin + "/control")
    assert len(complaints(browser)) >= 2
    for name in PAGES:
        browser.get(f"{site.origin}/{name}")
        grounds = "return getComputedStyle(document.body).backgroundColor"
        assert browser.execute_script(grounds) == "rgb(251, 250, 247)"
        assert complaints(browser) == [], name


def test_pages_fit_a_screen_of_320_pixels(browser: Chrome, site: Site) -> None:
    long = "長" * 300 + "w" * 300
    site.put({f"long_{name}": render(with_text(PAGES[name], long), "en") for name in RICHEST})
    show_as(browser, width=320)
    for name in [*PAGES, *(f"long_{name}" for name in RICHEST)]:
        browser.get(f"{site.origin}/{name}")
        assert browser.execute_script("return document.documentElement.scrollWidth") == 320, name


def test_colours_follow_the_reader(browser: Chrome, site: Site) -> None:
    grounds = set()
    for dark in (False, True):
        show_as(browser, width=1280, dark=dark)
        browser.get(site.origin + "/results")
        page = browser.find_element(By.TAG_NAME, "body")
        box = browser.find_element(By.ID, "q")
        grounds |= {each.value_of_css_property("background-color") for each in (page, box)}
    assert len(grounds) == 4


def test_what_is_pressed_is_large_enough(browser: Chrome, site: Site) -> None:
    """24 px at least, except links inside a sentence."""
    small = """
      return [...document.querySelectorAll("a, button, summary, input:not([type=hidden])")]
        .filter(e => !e.matches(".skip, p a") && e.getBoundingClientRect().height < 24)
        .map(e => e.outerHTML)"""
    show_as(browser, width=320)
    for name in PAGES:
        browser.get(f"{site.origin}/{name}")
        assert browser.execute_script(small) == [], name


def test_keys_alone_are_enough(browser: Chrome, site: Site) -> None:
    browser.get(site.origin + "/results")
    press(browser, Keys.TAB)
    skip = focused(browser)
    assert skip.get_attribute("class") == "skip"
    assert skip.rect["width"] > 50
    assert skip.value_of_css_property("outline-style") == "solid"
    press(browser, Keys.ENTER, Keys.TAB)
    assert focused(browser).text == "関連度"
    reached = set()
    while (tag := focused(browser)).tag_name != "body":
        assert tag.value_of_css_property("outline-style") == "solid"
        reached.add(tag.text)
        press(browser, Keys.TAB)
    assert {"前へ", "次へ", "7", "stories_ja 3", "API"} <= reached


def test_slash_goes_to_the_box(browser: Chrome, site: Site) -> None:
    browser.get(site.origin + "/results")
    press(browser, "/", "春", Keys.ENTER)
    assert f"q={quote('春')}" in arrives(browser, "/search")


def test_slash_is_text_in_a_field_and_nothing_to_an_input_method(
    browser: Chrome, site: Site
) -> None:
    browser.get(site.origin + "/add")
    area = browser.find_element(By.ID, "body")
    area.send_keys("1/2")
    assert area.get_property("value") == "1/2"
    browser.get(site.origin + "/results")
    strike = """document.body.dispatchEvent(
      new KeyboardEvent("keydown", {key: "/", bubbles: true, ...arguments[0]}))"""
    for held in ({"isComposing": True}, {"ctrlKey": True}, {"metaKey": True}, {"altKey": True}):
        browser.execute_script(strike, held)
        assert focused(browser).tag_name == "body", held
    browser.execute_script(strike, {})
    assert focused(browser).get_attribute("id") == "q"


def test_an_empty_box_is_ready_to_type_into(browser: Chrome, site: Site) -> None:
    browser.get(site.origin + "/box")
    press(browser, "人間", Keys.ENTER)
    assert parse_qs(urlsplit(arrives(browser, "/search")).query) == {
        "q": ["人間"],
        "order": ["newest"],
    }


def test_everything_works_without_scripts(site: Site) -> None:
    with open_browser(javascript=False) as driver:
        driver.get(site.origin + "/results")
        press(driver, "/")
        assert focused(driver).tag_name == "body"
        driver.find_element(By.ID, "q").send_keys(" 残酷", Keys.ENTER)
        assert parse_qs(urlsplit(arrives(driver, "/search")).query)["q"] == ["人間 残酷"]
        driver.find_element(By.LINK_TEXT, "次へ").click()
        WebDriverWait(driver, 10).until(lambda d: "page=8" in d.current_url)
        driver.find_element(By.LINK_TEXT, "段落を追加").click()
        arrives(driver, "/paragraphs/new")
        driver.get(site.origin + "/receipt_waiting")
        seen = len(site.asked)
        WebDriverWait(driver, 10).until(lambda _: "/receipt_waiting" in site.asked[seen:])


def test_the_edit_form_keeps_blanks_and_line_breaks(browser: Chrome, site: Site) -> None:
    browser.get(site.origin + "/paragraph")
    browser.find_element(By.TAG_NAME, "summary").click()
    body = browser.find_element(By.ID, "body").get_property("value")
    assert body == "  羊を数えて眠る男のところへ、九十九匹目の羊が苦情を言いに来た。\n二行目。"
