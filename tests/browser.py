"""A headless browser for tests: Debian's Chromium, an empty profile, no calls to the outside."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from selenium.webdriver import Chrome, ChromeOptions, ChromeService

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


@contextmanager
def open_browser(*, language: str = "ja", javascript: bool = True) -> Iterator[Chrome]:
    """Start a browser and end it. Skips the test where there is none; in CI that is a failure."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = ChromeOptions()
        options.binary_location = _program("chromium")
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        scripts = 1 if javascript else 2
        options.add_experimental_option(
            "prefs",
            {
                "intl.accept_languages": language,
                "profile.managed_default_content_settings.javascript": scripts,
            },
        )
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        driver = Chrome(options=options, service=ChromeService(_program("chromedriver")))
        try:
            driver.set_page_load_timeout(30)
            yield driver
        finally:
            driver.quit()


def show_as(driver: Chrome, *, width: int, height: int = 1000, dark: bool = False) -> None:
    """Lay pages out for a screen of this size (CSS pixels), light or dark."""
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
    )
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})


def complaints(driver: Chrome) -> list[str]:
    """Return what the browser has logged since the last call: script errors, refused loads."""
    return [entry["message"] for entry in driver.get_log("browser")]  # type: ignore[no-untyped-call]


def _program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        reason = f"{name} is not installed, so the pages were not tested in a browser"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return path
