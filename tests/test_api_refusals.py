"""What the JSON interface of design §8 refuses and how it says so; what it tells of itself.

Nothing here stores anything: the tests of a database share one application and its one row.
"""

import base64
import json
from collections.abc import Iterator

import pytest
from sqlalchemy import func, select

from databases import KINDS, Servers, fresh_database
from sakuin.app.paragraph import Paragraph
from sakuin.queue import read
from web import Web, serving


@pytest.fixture(scope="module", params=KINDS)
def web(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, servers: Servers
) -> Iterator[Web]:
    folder = tmp_path_factory.mktemp("refusals")
    with fresh_database(request.param, folder, servers) as url, serving(folder, url) as started:
        started.add("人間")
        started.drain()
        yield started


def forged(message: int, document: str) -> str:
    content = json.dumps(["paragraphs", [message], [document]])
    fields = dict(zip(("index", "messages", "documents"), json.loads(content), strict=True))
    return base64.urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "receipt",
    [forged(10**30, "1"), forged(-1, "1"), "x", "e30", "é", "e30=", "a" * 20_000, "WyJhIiwxLDJd"],
)
def test_an_unknown_receipt_is_404(web: Web, receipt: str) -> None:
    response = web.get(f"/api/v1/receipts/{receipt}")
    assert response.status_code == 404
    assert response.json()["error"]


@pytest.mark.parametrize("document", ["²", "9" * 255, "", "-1", "1e3"])
def test_a_forged_receipt_is_no_error(web: Web, document: str) -> None:
    """Whatever document it names: an answer, on the page too."""
    for path in ("/api/v1/receipts/", "/receipts/"):
        assert web.get(path + forged(7, document)).status_code == 200


@pytest.mark.parametrize("key", ["0", "-1", "9223372036854775807", "1" + "0" * 30, "1e3", "x"])
def test_keys_beyond_the_table_are_an_answer(web: Web, key: str) -> None:
    for method, content in (("GET", None), ("PUT", {"body": "x"}), ("DELETE", None)):
        response = web.client.request(method, f"/api/v1/paragraphs/{key}", json=content)
        assert response.status_code in (404, 422), (method, response.text)


def test_an_unknown_index_is_named(web: Web) -> None:
    response = web.get("/api/v1/search", q="x", index="nope")
    assert (response.status_code, response.json()["field"]) == (422, "index")


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"page": "0"}, "page"),
        ({"page": "-1"}, "page"),
        ({"page": "x"}, "page"),
        ({"page": "1" + "0" * 30}, "page"),
        ({"per_page": "0"}, "per_page"),
        ({"per_page": "1000000000"}, "per_page"),
        ({"order": "best"}, "order"),
        ({"g": "0"}, "g"),
    ],
)
def test_a_bad_number_names_its_field(web: Web, parameters: dict[str, str], field: str) -> None:
    response = web.get("/api/v1/search", q="x", **parameters)
    assert response.status_code == 422
    assert response.json()["field"] == field


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"nonsense",
        b'{"source": "s"}',
        b'{"body": ""}',
        b'{"body": " "}',
        b'{"body": "a\\u0000b"}',
        b'{"body": "\\ud800"}',
        b'{"body": "x", "source": "\\udfff"}',
        b'{"body": "x", "source": ""}',
        b'{"body": 5}',
        b'{"body": "\xff"}',
        b'{"body": "' + b"x" * (1 << 20) + b'y"}',
        b"[" * 100_000,
    ],
)
def test_a_bad_body_is_422_and_stores_nothing(web: Web, content: bytes) -> None:
    headers = {"content-type": "application/json"}
    response = web.client.post("/api/v1/paragraphs", content=content, headers=headers)
    assert response.status_code in (400, 422), response.text
    assert response.json()["error"]
    stored = select(func.count()).select_from(Paragraph)
    assert read(web.parts.database, lambda c: c.execute(stored).scalar()) == 1


@pytest.mark.parametrize(
    "query",
    [
        "",
        " ",
        "\0",
        "(" * 10_000,
        '"',
        "人" * 5000,
        "AND",
        "a OR",
        "-",
        "*",
        "\u200b",
        "NOT " * 500,
    ],
)
def test_no_query_is_an_error(web: Web, query: str) -> None:
    """S3: never raises; what was not searched is said in the diagnostics."""
    response = web.get("/api/v1/search", q=query)
    assert response.status_code == 200, response.text
    assert response.json()["diagnostics"] or response.json()["total"] >= 0


def test_every_answer_carries_the_security_headers(web: Web) -> None:
    for path in ("/", "/nowhere", "/api/v1/search", "/static/style.css", "/api/v1/nowhere"):
        headers = web.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"], path
        assert headers["x-content-type-options"] == "nosniff"


def test_the_interface_is_described(web: Web) -> None:
    paths = web.get("/api/v1/openapi.json").json()["paths"]
    assert set(paths) == {
        "/api/v1/search",
        "/api/v1/suggest",
        "/api/v1/words",
        "/api/v1/paragraphs",
        "/api/v1/paragraphs/bulk",
        "/api/v1/paragraphs/{paragraph_id}",
        "/api/v1/receipts/{receipt}",
    }
