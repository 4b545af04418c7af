"""The list of known faults is whole, and every test that it names is there."""

import ast
import re
from pathlib import Path

import pytest

from known_faults import FAULTS

HERE = Path(__file__).parent


def test_every_report_is_answered() -> None:
    assert list(FAULTS) == list(range(1, 46))
    for number, answer in FAULTS.items():
        if isinstance(answer, str):
            assert re.fullmatch(r"does not apply: .{10,}", answer), number
        else:
            assert answer, number


@pytest.mark.parametrize("number", [each for each, answer in FAULTS.items() if answer[0] != "d"])
def test_each_named_test_is_there_and_says_its_number(number: int) -> None:
    """A test of a file of faults has the number in its docstring or its name."""
    for node in FAULTS[number]:
        file, _, name = node.partition("::")
        found = _tests(HERE / file)
        assert name in found, node
        if file.startswith("test_faults_"):
            assert re.search(rf"\b{number}\b", f"{name} {found[name]}".replace("_", " ")), node


def test_every_number_in_a_file_of_faults_is_listed() -> None:
    for file in HERE.glob("test_faults_*.py"):
        for name in _tests(file):
            number = re.match(r"test_(?:fault_)?(\d+)_", name)
            if number:
                assert f"{file.name}::{name}" in FAULTS[int(number[1])], name


def _tests(file: Path) -> dict[str, str]:
    """Return the docstrings of the tests of a file, by their names."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {
        each.name: ast.get_docstring(each) or ""
        for each in tree.body
        if isinstance(each, ast.FunctionDef) and each.name.startswith("test_")
    }
