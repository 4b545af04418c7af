"""Tables of all kinds: composite and textual keys, old charsets, other schemas, odd names."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine as Database
from sqlalchemy import make_url

from attaching import PLAIN, attached, drain, found, held, make_articles, run, texts
from databases import Servers, fresh_schema
from notes import on_sqlite
from sakuin.app.attach import attach, plan
from sakuin.app.attached import read_attached
from sakuin.app.plan_attach import Wanted
from sakuin.app.strip_html import strip_html
from sakuin.indexer.build import Copy
from sakuin.indexer.document import Document
from sakuin.indexer.verify import verify
from sakuin.queue import DatabaseBusy, create_schema, read

KEYS = (("en", "ac"), ("ja", "ab"), ("z", "aa"))
BODY = Wanted("t", ("body",))


@pytest.fixture
def mariadb(mariadb_url: str, open_database: Callable[[str], Database]) -> Database:
    engine = open_database(mariadb_url)
    create_schema(engine)
    return engine


def settled(copy: Copy) -> list[str]:
    """Drain, require that nothing died, and return the ids."""
    drain(copy)
    report = verify(copy)
    assert report.is_equal, report
    assert (report.waiting, report.dead) == (0, 0)
    return sorted(held(copy))


def is_sqlite(database: Database) -> bool:
    return database.dialect.name == "sqlite"


def test_a_composite_key(engine: Database, tmp_path: Path) -> None:
    """§8: its id is a JSON array, whoever writes it; key changes push the old key and the new."""
    run(
        engine,
        "CREATE TABLE t (lang VARCHAR(10) NOT NULL, n INT NOT NULL, body TEXT,"
        " PRIMARY KEY (lang, n))",
        "INSERT INTO t VALUES ('ja', 1, '一'), ('ja', 10, '十'), ('a\"b\\\\漢', 2, '二')",
    )
    copy = attached(engine, tmp_path, replace(BODY, url="/t/{lang}/{n}"))
    odd = '["a\\"b\\\\\\\\漢",2]' if is_sqlite(engine) else '["a\\"b\\\\漢",2]'
    assert settled(copy) == sorted(['["ja",1]', '["ja",10]', odd])
    run(engine, "UPDATE t SET n = 3 WHERE n = 2", "UPDATE t SET body = '変' WHERE n = 10")
    run(engine, "DELETE FROM t WHERE n = 1", "INSERT INTO t VALUES ('EN', 1, 'one')")
    assert settled(copy) == sorted(['["EN",1]', '["ja",10]', odd.replace(",2]", ",3]")])
    assert found(copy, "変") == ['["ja",10]']
    url = read(engine, read_attached)[0].url_of(held(copy)['["ja",10]'])
    assert url == "/t/ja/10"


def test_walking_many_composite_keys(engine: Database, tmp_path: Path) -> None:
    """Every key once, in key order, however the pages fall."""
    run(engine, "CREATE TABLE t (a INT, b VARCHAR(9), body TEXT, PRIMARY KEY (a, b))")
    rows = ", ".join(f"({n % 7}, 'k{n % 11}', 'x')" for n in range(77))
    run(engine, f"INSERT INTO t VALUES {rows}")
    copy = attached(engine, tmp_path, BODY)
    loader, seen, after = copy.index.loader, list[str](), None
    while ids := read(engine, lambda c: loader.ids_after(c, after, 5)):  # noqa: B023
        seen += ids
        after = ids[-1]
    assert len(seen) == len(set(seen)) == 77
    assert len(settled(copy)) == 77


def test_textual_keys_are_compared_to_the_byte(engine: Database, tmp_path: Path) -> None:
    """A collation that equates a and A, or blanks at the end, brings no other row (fault 43)."""
    collation = "COLLATE NOCASE" if is_sqlite(engine) else ""
    run(
        engine,
        f"CREATE TABLE t (k VARCHAR(20) {collation} PRIMARY KEY, body TEXT)",
        "INSERT INTO t VALUES ('A', 'x'), ('b', 'y'), ('漢\"字', 'z'), ('', 'empty')",
    )
    copy = attached(engine, tmp_path, BODY)
    assert settled(copy) == sorted(["A", "b", '漢"字', ""])
    loader = copy.index.loader
    asked = ["a", "A ", "B", "b", "no", '["b"]', "\ud800"]
    assert [d.id for d in read(engine, lambda c: loader.load(c, asked))] == ["b"]
    run(engine, "UPDATE t SET k = 'a' WHERE k = 'A'", "UPDATE t SET body = 'Y' WHERE k = 'b'")
    assert settled(copy) == sorted(["a", "b", '漢"字', ""])
    assert texts(copy, "body")["b"] == ("Y",)


def test_binary_and_dated_keys(engine: Database, tmp_path: Path) -> None:
    """Bytes stand in an id as hex, dates and decimals as the database writes them."""
    blob = "BLOB" if is_sqlite(engine) else "BINARY(4)"
    run(
        engine,
        f"CREATE TABLE t (u {blob} NOT NULL, d DATE NOT NULL, m DECIMAL(9, 2) NOT NULL,"
        " body TEXT, PRIMARY KEY (u, d, m))",
        "INSERT INTO t VALUES (X'00FF27AB', '2024-02-29', 1.5, 'x')",
        "INSERT INTO t VALUES (X'00FF27AC', '2024-02-29', 1.5, 'x')",
    )
    copy = attached(engine, tmp_path, BODY)
    run(engine, "UPDATE t SET body = 'y' WHERE u = X'00FF27AB'")
    money = "1.5" if is_sqlite(engine) else "1.50"
    assert settled(copy) == [f'["00ff27a{c}","2024-02-29","{money}"]' for c in "bc"]


def test_numbers_that_do_not_fit_are_texts(mariadb: Database, tmp_path: Path) -> None:
    """A key that was negative or beyond 63 bits makes all ids texts; a later one is named."""
    run(
        mariadb,
        "CREATE TABLE t (id BIGINT UNSIGNED PRIMARY KEY, body TEXT)",
        "INSERT INTO t VALUES (18446744073709551615, 'x'), (9, 'y')",
        "CREATE TABLE s (id BIGINT PRIMARY KEY, body TEXT)",
        "INSERT INTO s VALUES (5, 'x')",
    )
    copy = attached(mariadb, tmp_path, BODY)
    assert copy.index.fields.text_ids
    assert settled(copy) == ["18446744073709551615", "9"]
    other = attached(mariadb, tmp_path, Wanted("s", ("body",)))
    assert not other.index.fields.text_ids
    run(mariadb, "INSERT INTO s VALUES (-1, 'x')")
    drain(other)
    with pytest.raises(ValueError, match="attach it again"):
        read(mariadb, lambda c: other.index.loader.load(c, ["-1"]))
    assert plan(mariadb, Wanted("s", ("body",))).needs_rebuild


@pytest.mark.parametrize("charset", ["utf8mb3", "cp932", "sjis", "ujis", "latin1"])
def test_old_charsets(mariadb: Database, tmp_path: Path, charset: str) -> None:
    """Tables whose texts are no utf8mb4, keys too; and ids that their charset cannot hold."""
    word = "café" if charset == "latin1" else "日本語"
    run(
        mariadb,
        f"CREATE TABLE t (k VARCHAR(20), n INT, body TEXT, PRIMARY KEY (k, n))"
        f" CHARACTER SET {charset}",
        f"INSERT INTO t VALUES ('{word}', 1, '{word}の本')"
        if charset != "latin1"
        else f"INSERT INTO t VALUES ('{word}', 1, '{word} noir')",
    )
    copy = attached(mariadb, tmp_path, replace(BODY, where="k <> '%none'"))
    run(mariadb, f"INSERT INTO t VALUES ('{word}2', 2, 'x')", "UPDATE t SET n = 5 WHERE n = 1")
    assert settled(copy) == sorted([f'["{word}",5]', f'["{word}2",2]'])
    assert found(copy, word) == [f'["{word}",5]']
    asked = ['["😀",1]', f'["{word}",5]']
    assert len(read(mariadb, lambda c: copy.index.loader.load(c, asked))) == 1


def test_columns_of_different_collations(mariadb: Database, tmp_path: Path) -> None:
    """An update that only a binary comparison sees is seen."""
    run(
        mariadb,
        "CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(20) CHARACTER SET utf8mb4 COLLATE"
        " utf8mb4_general_ci, b VARCHAR(20) CHARACTER SET cp932, c VARCHAR(20) CHARACTER SET"
        " utf8mb3 COLLATE utf8mb3_bin)",
        "INSERT INTO t VALUES (1, 'a', 'b', 'c')",
    )
    copy = attached(mariadb, tmp_path, Wanted("t", ("a", "b", "c")))
    drain(copy)
    run(mariadb, "UPDATE t SET a = 'A'")
    settled(copy)
    assert texts(copy, "a", "b", "c") == {"1": ("A", "b", "c")}
    run(mariadb, "UPDATE t SET a = 'A'")
    assert verify(copy).waiting == 0


def test_a_table_in_another_schema(mariadb: Database, tmp_path: Path, servers: Servers) -> None:
    """Sakuin's tables in a schema of their own, the table in another, written from a third."""
    with fresh_schema(servers.url()) as url:
        blog = make_url(url).database
        run(
            mariadb,
            f"CREATE TABLE {blog}.articles (id INT PRIMARY KEY, body TEXT, status VARCHAR(9))",
        )
        copy = attached(
            mariadb, tmp_path, Wanted(f"{blog}.articles", ("body",), where="status = 'public'")
        )
        run(
            mariadb,
            f"USE {blog}",
            "INSERT INTO articles VALUES (1, '人間', 'public'), (2, '人間', 'draft')",
            f"USE {mariadb.url.database}",
        )
        assert settled(copy) == ["1"]


def test_filters_and_times(engine: Database, tmp_path: Path) -> None:
    """Values by the columns' types: numbers, times in UTC, texts; NULL is no value."""
    stamp = "DATETIME" if is_sqlite(engine) else "TIMESTAMP(6) NULL"
    run(
        engine,
        "CREATE TABLE t (id INT PRIMARY KEY, body TEXT, n SMALLINT, ok BOOLEAN, price DECIMAL(8),"
        f" kind VARCHAR(10), day DATE, at DATETIME, stamp {stamp})",
        *([] if is_sqlite(engine) else ["SET time_zone = '+00:00'"]),
        "INSERT INTO t VALUES (1, 'x', -5, TRUE, 300, 'Novel', '2024-02-29',"
        " '1969-12-31 23:59:59', '2024-02-29 12:00:00.250000')",
        "INSERT INTO t (id, body) VALUES (2, 'x')",
        *([] if is_sqlite(engine) else ["SET time_zone = DEFAULT"]),
    )
    filters = ("n", "ok", "price", "kind", "day", "stamp")
    copy = attached(engine, tmp_path, replace(BODY, filters=filters, created="at"))
    settled(copy)
    first, second = held(copy)["1"], held(copy)["2"]
    day = 1_709_164_800_000_000
    assert dict(first.values) == {
        "n": -5,
        "ok": 1,
        "price": 300,
        "kind": "Novel",
        "day": day,
        "stamp": day + 43_200_250_000,
    }
    assert (first.at, second.at, dict(second.values)) == (-1_000_000, 0, {})


def test_times_do_not_depend_on_the_session(mariadb: Database, tmp_path: Path) -> None:
    """Q7: a TIMESTAMP is the same moment, and the same text, whatever the session's zone is."""
    run(
        mariadb,
        "CREATE TABLE t (id INT PRIMARY KEY, body TEXT, at TIMESTAMP NULL)",
        "SET time_zone = '+09:00'",
        "INSERT INTO t VALUES (1, 'x', '2024-01-01 09:00:00')",
        "SET time_zone = DEFAULT",
    )
    copy = attached(mariadb, tmp_path, replace(BODY, created="at", title="at"))
    loaded = list[Document]()
    for zone in ("+00:00", "-05:00", "SYSTEM"):
        with mariadb.connect() as connection:
            connection.exec_driver_sql(f"SET time_zone = '{zone}'")
            loaded += copy.index.loader.load(connection, ["1"])
            connection.exec_driver_sql("SET time_zone = DEFAULT")
    assert {each.digest for each in loaded} == {loaded[0].digest}
    assert loaded[0].at == 1_704_067_200_000_000
    assert loaded[0].text["at"].startswith("2024-01-01 00:00:00")


def test_html_is_searched_as_its_text(engine: Database, tmp_path: Path) -> None:
    """Tags go, words in different blocks stay apart, entities are what they stand for."""
    make_articles(engine)
    run(
        engine,
        "INSERT INTO articles (id, body) VALUES (1, '<p>人<b>間</b></p><p>殺し&amp;</p>"
        "<script>var 機械</script>')",
    )
    copy = attached(engine, tmp_path, replace(PLAIN, html=("body",)))
    drain(copy)
    assert texts(copy, "body") == {"1": ("人間 殺し&",)}
    assert (found(copy, "人間"), found(copy, "機械"), found(copy, "間殺")) == (["1"], [], [])


def test_html_of_any_kind() -> None:
    """No text is an error, nothing that is open forever eats what stands before it."""
    assert strip_html("1 < 2 & 3 > 2") == "1 < 2 & 3 > 2"
    assert strip_html("a<br>b<br/>c<!-- x -->d") == "a b cd"
    assert strip_html("<![if x]>a<![endif]> &#x4eba;&nbsp;b <c") == "a 人 b <c"
    assert strip_html("<style>p { }</style>x<script>unclosed") == "x"


def test_choices_and_uuids_as_keys(mariadb: Database, tmp_path: Path) -> None:
    """A choice is ordered as a text, not by its number; a UUID is written as one."""
    run(
        mariadb,
        "CREATE TABLE t (lang ENUM('z', 'ja', 'en') NOT NULL, u UUID NOT NULL, body TEXT,"
        " PRIMARY KEY (lang, u))",
        "INSERT INTO t VALUES ('z', '00000000-0000-0000-0000-0000000000aa', 'x'),"
        " ('ja', '00000000-0000-0000-0000-0000000000ab', 'x'),"
        " ('en', '00000000-0000-0000-0000-0000000000ac', 'x')",
    )
    copy = attached(mariadb, tmp_path, replace(BODY, filters=("lang",)))
    run(mariadb, "UPDATE t SET body = 'y' WHERE lang = 'ja'")
    ids = [f'["{k}","00000000-0000-0000-0000-0000000000{u}"]' for k, u in KEYS]
    assert settled(copy) == sorted(ids)
    loader, seen, after = copy.index.loader, list[str](), None
    while page := read(mariadb, lambda c: loader.ids_after(c, after, 1)):  # noqa: B023
        seen += page
        after = page[-1]
    assert seen == ids


@on_sqlite
def test_bytes_that_are_no_text_are_that_row_s_fault(engine: Database, tmp_path: Path) -> None:
    """Q4: SQLite keeps any bytes as a text; such a row dies alone and is named."""
    run(
        engine,
        "CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT)",
        "INSERT INTO t VALUES (1, 'x'), (2, CAST(X'FF' AS TEXT)), (3, 'z')",
    )
    copy = attached(engine, tmp_path, BODY)
    drain(copy)
    assert sorted(held(copy)) == ["1", "3"]
    assert verify(copy).under_way == 1  # it is tried again later
    run(engine, "DELETE FROM sakuin_messages")
    assert verify(copy).unreadable.first == ["2"]


@on_sqlite
def test_names_in_whatever_case(engine: Database, tmp_path: Path) -> None:
    """SQLite takes a table's name in any case: the triggers are known again all the same."""
    make_articles(engine)
    attached(engine, tmp_path, Wanted("ARTICLES", ("BODY",)))
    assert not plan(engine, Wanted("Articles", ("Body",))).needs_rebuild
    assert attach(engine, plan(engine, Wanted("Articles", ("Body",)))).triggers == 0


@on_sqlite
def test_words_as_names(engine: Database, tmp_path: Path) -> None:
    """Names that SQL knows, upper case, other scripts."""
    run(
        engine,
        'CREATE TABLE "Order" ("Group" INTEGER PRIMARY KEY, "本文" TEXT, "select" TEXT)',
        """INSERT INTO "Order" VALUES (1, '人間', 'x')""",
    )
    copy = attached(engine, tmp_path, Wanted("Order", ("本文", "select")))
    run(engine, """INSERT INTO "Order" VALUES (2, '機械', 'y')""")
    assert (settled(copy), copy.index.name) == (["1", "2"], "order")


def test_names_of_all_kinds(mariadb: Database, tmp_path: Path) -> None:
    """Blanks, signs that drivers and quotes know, other scripts: in names and conditions."""
    run(
        mariadb,
        "CREATE TABLE `100%% of``it` (`key %%s` INT PRIMARY KEY, 本文 TEXT, `a-b c` INT DEFAULT 0)",
        "INSERT INTO `100%% of``it` (`key %%s`, 本文) VALUES (1, '人間')",
    )
    wanted = Wanted(
        "100% of`it", ("本文",), name="odd", where="`a-b c` < 5 AND 本文 NOT LIKE '%x%'"
    )
    copy = attached(mariadb, tmp_path, wanted)
    run(mariadb, "INSERT INTO `100%% of``it` (`key %%s`, 本文) VALUES (2, '機械'), (3, 'axb')")
    assert settled(copy) == ["1", "2"]
    run(mariadb, "UPDATE `100%% of``it` SET `a-b c` = 9 WHERE `key %%s` = 1")
    assert settled(copy) == ["2"]


def test_a_client_with_settings_of_its_own(mariadb: Database, tmp_path: Path) -> None:
    """An old program's charset and SQL mode change nothing, and it gets its own insert id back."""
    run(
        mariadb,
        "CREATE TABLE t (n INT AUTO_INCREMENT UNIQUE, k VARCHAR(20) PRIMARY KEY, body TEXT)"
        " CHARACTER SET cp932",
        "INSERT INTO t (n, k, body) VALUES (41, 'first', 'x')",
    )
    copy = attached(mariadb, tmp_path, BODY)
    drain(copy)
    run(mariadb, *["INSERT INTO sakuin_messages SET queue = 'other', data = 'x'"] * 3)
    with mariadb.connect() as connection:
        connection.exec_driver_sql("SET NAMES cp932")
        connection.exec_driver_sql("SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'")
        word = "'表示'".encode("cp932")  # its second byte is a backslash
        cursor = connection.connection.cursor()
        cursor.execute(b"INSERT INTO t (k, body) VALUES (" + word + b", " + word + b")")
        assert cursor.lastrowid == 42
        connection.exec_driver_sql("COMMIT")
        connection.invalidate()
    assert settled(copy) == sorted(["first", "表示"])
    assert texts(copy, "body")["表示"] == ("表示",)


def test_an_attachment_that_fails_leaves_nothing(
    mariadb: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No index is listed whose table has no trigger."""
    monkeypatch.setattr("sakuin.app.lock_patience.WAIT_SECONDS", 1)
    run(mariadb, "CREATE TABLE t (id INT PRIMARY KEY, body TEXT)")
    with mariadb.connect() as other, other.begin():
        other.exec_driver_sql("SELECT * FROM t").all()
        with pytest.raises(DatabaseBusy, match="long transaction"):
            attached(mariadb, tmp_path, BODY)
    assert read(mariadb, read_attached) == []
    assert settled(attached(mariadb, tmp_path, BODY)) == []
