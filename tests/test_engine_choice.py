"""Engines by name (promise S5): each library is loaded only when it is asked for."""

import builtins
import subprocess
import sys

import pytest

from sakuin.indexer.engines import ENGINE_NAMES, default_engine, engine_named


def test_engines_have_names_and_versions() -> None:
    for name in ENGINE_NAMES:
        engine = engine_named(name)
        assert engine.name == name
        assert engine.version[0].isdigit()
        assert "." in engine.version


def test_an_unknown_engine_is_named_with_the_choices() -> None:
    with pytest.raises(ValueError, match=r"'lucene'.*tantivy, whoosh"):
        engine_named("lucene")


def test_the_default_is_tantivy_and_whoosh_where_it_does_not_load(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert default_engine().name == "tantivy"
    load = builtins.__import__

    def without_tantivy(name: str, *rest: object) -> object:
        if name.startswith("tantivy"):
            raise ImportError(name)
        return load(name, *rest)  # type: ignore[arg-type]

    for module in [name for name in sys.modules if "tantivy" in name]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(builtins, "__import__", without_tantivy)
    assert default_engine().name == "whoosh"


def test_importing_the_choice_loads_no_library() -> None:
    code = (
        "import sys, sakuin.indexer.engines\n"
        "assert not {'tantivy', 'whoosh'} & set(sys.modules)\n"
        "sakuin.indexer.engines.engine_named('whoosh')\n"
        "assert 'whoosh' in sys.modules and 'tantivy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
