"""Suggestions, what was meant, closest and similar, as a person meets them: server and browser."""

from collections.abc import Iterator

import pytest
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from browser import complaints, open_browser
from command import Command

TEXT = (
    "宮沢賢治は岩手県の花巻で生まれた。\n宮沢賢治の童話の話。\n太宰治は津軽で生まれた。\n"
    "The library of the river town\nA library lends books\n"
)
OPTIONS = "return [...document.querySelectorAll('#suggestions option')].map(o => o.value)"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    sakuin = Command(tmp_path_factory.mktemp("site"), {})
    (sakuin.folder / "a.txt").write_text(TEXT, encoding="utf-8")
    sakuin.run("load", "a.txt", "--no-wait")
    sakuin.run("worker", "--drain")
    with sakuin.start("serve", "--port", "0", "--no-worker") as process:
        yield process.wait_for_line(r"(http://\S+)")[1].rstrip("/")


@pytest.fixture(scope="module")
def driver() -> Iterator[Chrome]:
    with open_browser(language="en") as opened:
        yield opened


def typed(driver: Chrome, text: str) -> list[str]:
    """Type into the box, and return what is suggested when it has come."""
    box = driver.find_element(By.ID, "q")
    box.clear()
    box.send_keys(text)
    wait = WebDriverWait(driver, 20)
    found: list[str] = wait.until(lambda d: d.execute_script(OPTIONS))
    return found


def test_suggestions_come_while_typing_and_lead_to_hits(driver: Chrome, address: str) -> None:
    driver.get(f"{address}/")
    assert "宮沢賢治" in typed(driver, "宮")
    driver.get(f"{address}/")
    assert "library" in typed(driver, "lib")
    box = driver.find_element(By.ID, "q")
    box.clear()
    box.send_keys("library", Keys.ENTER)
    WebDriverWait(driver, 20).until(lambda d: "q=library" in d.current_url)
    assert "2" in driver.find_element(By.CSS_SELECTOR, "h1").text
    assert complaints(driver) == []


def test_an_input_method_is_left_in_peace(driver: Chrome, address: str) -> None:
    """Nothing is asked for while characters are being composed."""
    driver.get(f"{address}/")
    asked = driver.execute_async_script(
        """
        const done = arguments[0];
        const asked = [];
        const fetched = window.fetch;
        window.fetch = (...what) => { asked.push(String(what[0])); return fetched(...what); };
        const box = document.getElementById("q");
        box.value = "みや";
        box.dispatchEvent(new InputEvent("input", { isComposing: true }));
        setTimeout(() => {
          const early = asked.length;
          box.value = "宮";
          box.dispatchEvent(new CompositionEvent("compositionend"));
          setTimeout(() => done([early, asked.length]), 600);
        }, 600);
        """
    )
    assert asked == [0, 1]


def test_what_was_meant_closest_and_similar_can_be_followed(driver: Chrome, address: str) -> None:
    driver.get(f"{address}/search?q=libraly")
    assert "Did you mean" in driver.find_element(By.CSS_SELECTOR, "main").text
    driver.find_element(By.LINK_TEXT, "library").click()
    assert driver.find_element(By.CSS_SELECTOR, "h1").text.startswith("2 ")
    driver.get(f"{address}/search?q=where was 宮沢賢治 生まれ born?")
    main = driver.find_element(By.CSS_SELECTOR, "main").text
    assert "Not an exact match" in main
    driver.find_element(By.PARTIAL_LINK_TEXT, "All ").click()
    assert "mode=closest" in driver.current_url
    assert "Not an exact match" in driver.find_element(By.CSS_SELECTOR, "main").text
    driver.find_element(By.LINK_TEXT, "Similar texts").click()
    assert "like=1" in driver.current_url
    assert "similar" in driver.find_element(By.CSS_SELECTOR, "h1").text
    assert complaints(driver) == []
