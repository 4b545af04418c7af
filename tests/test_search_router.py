"""The router of a model in an application of somebody else's: answers, errors, description."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from starlette.testclient import TestClient

from article_models import Article, Base, Note, Site, site
from sakuin.app.assemble import installation
from sakuin.app.search_router import search_router
from sakuin.app.searchable import Searchable, SearchFields, bind_search
from sakuin.app.settings import read_settings
from sakuin.queue import DatabaseRefused, create_schema, open_engine


@dataclass(frozen=True, slots=True)
class Served:
    """A client of an application with two routers, and what is behind it."""

    client: TestClient
    site: Site

    def get(self, path: str, **asked: Any) -> Any:
        """Return the JSON of an answer that must be good."""
        response = self.client.get(path, params=asked)
        assert response.status_code == 200, response.text
        return response.json()


def application() -> FastAPI:
    app = FastAPI()
    app.include_router(search_router(Article))
    app.include_router(search_router(Note, prefix="/notes/search"), prefix="/api")
    return app


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    url = f"sqlite:///{tmp_path / 'shop.db'}"
    engine = open_engine(url)
    create_schema(engine)
    with (
        site(engine, tmp_path) as shop,
        bind_search(Base, settings(tmp_path, url)),
        TestClient(application(), raise_server_exceptions=False) as client,
    ):
        yield Served(client, shop)
    engine.dispose()


def settings(folder: Path, url: str) -> Any:
    return read_settings({"data_dir": folder, "database_url": url, "engine": "tantivy"}, {}, folder)


def save(shop: Site, *bodies: str) -> None:
    with shop.session() as session:
        session.add_all([Article(title=f"第{n}", body=body) for n, body in enumerate(bodies, 1)])
        session.commit()
    shop.drain(Article)


def test_a_page_of_hits(served: Served) -> None:
    assert served.get("/search", q="猫")["total"] == 0
    save(served.site, *(f"猫が{n}匹" for n in range(12)), "犬")
    page = served.get("/search", q="猫", page=2, order="id")
    assert (page["total"], page["total_pages"], page["previous_page"]) == (12, 2, 1)
    assert (page["next_page"], page["waiting"], page["generation"]) == (None, 0, 1)
    assert [hit["id"] for hit in page["items"]] == [11, 12]
    assert page["items"][0] == {
        "index": "articles",
        "id": 11,
        "title": "11",
        "url": None,
        "score": 0.0,
        "stale": False,
        "fields": {"title": "第11", "body": "猫が10匹"},
        "highlights": {
            "title": [{"text": "第11", "hit": False}],
            "body": [{"text": "猫", "hit": True}, {"text": "が10匹", "hit": False}],
        },
    }


def test_pages_of_one_generation_and_after_an_id(served: Served) -> None:
    """S4, I6: `g` keeps to a copy; in the order of ids `after` goes on."""
    save(served.site, *("猫",) * 25)
    first = served.get("/search", q="猫", order="id")
    save(served.site, "猫")
    second = served.get("/search", q="猫", order="id", page=2, g=first["generation"])
    assert (second["total"], second["generation"]) == (25, first["generation"])
    assert served.get("/search", q="猫")["total"] == 26
    ids = [hit["id"] for hit in first["items"]]
    after = first["next_after"]
    while after is not None:
        page = served.get("/search", q="猫", order="id", after=after)
        ids += [hit["id"] for hit in page["items"]]
        after = page["next_after"]
    assert ids == list(range(1, 27))
    gone = served.get("/search", q="猫", g=99, page=2)
    assert (gone["restarted"], gone["page"], gone["total"]) == (True, 1, 26)


def test_rows_gone_or_edited_since_are_told(served: Served) -> None:
    """S6: one question about the rows of the page hides and marks."""
    save(served.site, "猫一", "猫二", "猫三")
    with served.site.session() as session:
        session.delete(session.get_one(Article, 1))
        session.get_one(Article, 2).body = "猫に"
        session.commit()
    page = served.get("/search", q="猫", order="id")
    assert (page["removed"], page["waiting"], page["total"]) == ([1], 2, 3)
    assert [(hit["id"], hit["stale"]) for hit in page["items"]] == [(2, True), (3, False)]


def test_a_filter_and_a_dialect(served: Served) -> None:
    save(served.site, "猫と犬", "猫", "犬")
    page = served.get("/search", q="犬", filter="title:第1 OR title:第3", order="id")
    assert [hit["id"] for hit in page["items"]] == [1, 3]
    assert all(not piece["hit"] for hit in page["items"] for piece in hit["highlights"]["title"])
    assert served.get("/search", q="猫 ANDNOT 犬", dialect="estraier")["total"] == 1


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"page": "0"}, "page"),
        ({"page": "x"}, "page"),
        ({"per_page": "101"}, "per_page"),
        ({"order": "color"}, "order"),
        ({"order": "newest"}, "order"),
        ({"g": "0"}, "g"),
        ({"after": "1"}, "after"),
        ({"after": "x", "order": "id"}, "after"),
        ({"after": "", "order": "id"}, "after"),
        ({"after": "1", "order": "id", "page": "2"}, "after"),
        ({"dialect": "sql"}, "dialect"),
    ],
)
def test_bad_numbers_are_422_and_name_the_field(
    served: Served, asked: dict[str, str], field: str
) -> None:
    response = served.client.get("/search", params={"q": "猫", **asked})
    assert response.status_code == 422
    assert [each["loc"] for each in response.json()["detail"]] == [["query", field]]


@pytest.mark.parametrize(
    "text", ["", '"', "((((" * 300, "title:", "\0", "*", "-", "x" * 5000, "id:>=9..", "\ud83d"]
)
def test_no_text_is_an_error(served: Served, text: str) -> None:
    """S3: any text is answered, with remarks where something is odd."""
    save(served.site, "猫")
    encoded = text.encode("utf-8", "surrogatepass")
    for parameter in ("q", "filter"):
        response = served.client.get("/search", params={parameter: encoded})
        assert response.status_code == 200, response.text


def test_an_index_of_its_own_for_each_model(served: Served) -> None:
    with served.site.session() as session:
        session.add(Note(name="a/b", owner="猫", text="吾輩"))
        session.commit()
    served.site.drain(Note)
    page = served.get("/api/notes/search", q="吾輩", order="newest")
    assert [(hit["id"], hit["url"], hit["title"]) for hit in page["items"]] == [
        ("a/b", "/notes/a%2Fb", "猫: a/b")
    ]


def test_a_database_that_is_away_stops_no_search(tmp_path: Path, away_url: str) -> None:
    """S6: the index alone answers."""
    engine = open_engine(f"sqlite:///{tmp_path / 'shop.db'}")
    create_schema(engine)
    with site(engine, tmp_path) as shop:
        save(shop, "猫")
    engine.dispose()
    with bind_search(Base, settings(tmp_path, away_url)), TestClient(application()) as client:
        page = client.get("/search", params={"q": "猫"}).json()
    assert (page["total"], page["waiting"], len(page["items"])) == (1, None, 1)


@pytest.fixture
def away_url() -> str:
    """The address of a database server that is not there."""
    return "mysql+pymysql://nobody@127.0.0.1:1/nothing"


def test_an_index_that_cannot_be_read_is_503(served: Served) -> None:
    save(served.site, "猫")
    (manifest,) = served.site.folder.glob("index/articles/gen-*/manifest.json")
    manifest.write_text("{}")
    response = served.client.get("/search", params={"q": "猫"})
    assert (response.status_code, response.headers["retry-after"]) == (503, "5")
    assert "articles" in response.json()["detail"]


def test_the_description_has_the_shapes() -> None:
    described = application().openapi()
    answer = described["paths"]["/search"]["get"]["responses"]["200"]["content"]
    assert answer["application/json"]["schema"]["$ref"].endswith("/Page_Hit_")
    shapes = described["components"]["schemas"]
    assert shapes["Page_Hit_"]["properties"]["items"]["items"]["$ref"].endswith("/Hit")
    asked = described["paths"]["/api/notes/search"]["get"]["parameters"]
    assert {each["name"] for each in asked} == {
        "q", "page", "per_page", "order", "g", "after", "filter", "dialect", "mode", "like",
            "facets",
    }  # fmt: skip


def test_wrong_settings_keep_the_application_from_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Own(DeclarativeBase):
        pass

    class Entry(Searchable, Own):
        __tablename__ = "entries"
        __searchable__ = SearchFields({"words": 1.0})
        id: Mapped[int] = mapped_column(primary_key=True)
        words: Mapped[str]

    app = FastAPI()
    app.include_router(search_router(Entry))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sakuin.toml").write_text('database_url = "oracle://x"')
    with pytest.raises(DatabaseRefused, match="begins with 'oracle'"), TestClient(app):
        pass
    (tmp_path / "sakuin.toml").write_text(f'data_dir = "{tmp_path}"')
    bind_search(Own)
    # Without a lifespan, as some test clients run it, the first search opens what it needs.
    assert TestClient(app).get("/search").json()["total"] == 0


def test_a_filter_of_the_program_s_own_holds_whatever_is_asked(tmp_path: Path) -> None:
    """Brackets, OR, a filter of the visitor's: nothing gets out of it, and a blank finds nothing.

    All routers of a binding share one installation, and the last to end closes it.
    """
    url = f"sqlite:///{tmp_path / 'shop.db'}"
    engine = open_engine(url)
    create_schema(engine)
    app = FastAPI()
    app.include_router(search_router(Article, filter="title:第1 OR title:第2"))
    app.include_router(search_router(Article, prefix="/all"))
    mounted = FastAPI()
    mounted.include_router(search_router(Article))
    app.mount("/sub", mounted)
    with (
        site(engine, tmp_path) as shop,
        bind_search(Base, settings(tmp_path, url)) as bound,
    ):
        save(shop, "猫と犬", "犬", "犬と猫", "猫")
        with TestClient(app) as client:
            for asked, ids in (
                ({"q": "犬"}, [1, 2]),
                ({"q": "犬) OR (猫"}, [1]),
                ({"q": "NOT 鳥"}, [1, 2]),
                ({"q": "", "filter": "猫"}, [1]),
                ({"q": "犬", "filter": "title:第3 OR 猫"}, [1]),
                ({"q": "犬", "filter": ")) OR title:第3"}, []),
                ({"q": "+猫 犬", "dialect": "tritonn"}, [1]),
                ({"q": ""}, []),
            ):
                page = client.get("/search", params={**asked, "order": "id"}).json()
                assert [hit["id"] for hit in page["items"]] == ids, asked
                assert page["total"] == len(ids)
                assert not any(p["hit"] for h in page["items"] for p in h["highlights"]["title"])
            for everything in ("/all", "/sub/search"):
                assert client.get(everything, params={"q": "犬"}).json()["total"] == 3
            opened = bound.shared(installation)
            assert opened is bound.shared(installation)
        assert bound.shared(installation) is not opened
    engine.dispose()
    with pytest.raises(ValueError, match="filter: the query is too long"):
        search_router(Article, filter="x" * 2000)
