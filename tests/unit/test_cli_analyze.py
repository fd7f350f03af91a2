"""`dpor analyze`: the facts, their reasons, the source annotated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

import dpor
from dpor.cli.main import cli
from dpor.core.options import PointerAnalysis

SCHEMA = json.loads((Path(dpor.__file__).parent / "report" / "analysis.schema.json").read_text())
BANK = """\
import threading
from auditing import audit
class Account:
    def __init__(self, name):
        self.name = name
        self.balance = 0
    def deposit(self, amount):
        self.balance += amount
def work(account):
    account.deposit(1)
    audit(account)
def main():
    account = Account("a")
    threads = [threading.Thread(target=work, args=(account,)) for _ in range(2)]
    for thread in threads:
        thread.start()
"""
AUDITING = "def audit(account):\n    account.audited = account.name\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bank.py").write_text(BANK)
    Path("auditing.py").write_text(AUDITING)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["analyze", *arguments])


def facts(*arguments: str) -> Any:
    content = json.loads(run("bank.py::main", "--json", "-", *arguments).stdout)
    jsonschema.validate(content, SCHEMA)
    return content


def labels(content: Any) -> set[tuple[int, str, str]]:
    return {
        (access["line"], f"{access['mode']} {access['field']}", access["label"])
        for access in content["accesses"]
        if access["field"].startswith("Account")
    }


def test_the_facts_with_their_reasons_and_lines() -> None:
    told = run("bank.py::main")
    assert told.exit_code == 0
    lines = told.output.splitlines()
    assert "  Account.name" in lines
    assert "  Account.balance: written after the object may have escaped, bank.py:8" in lines
    assert "  bank.py:8 Account.deposit: w Account.balance: relevant: a thread in work may write it, bank.py:8" in lines
    assert "  bank.py:7 Account.deposit: r Account.balance, w Account.balance" in lines


@pytest.mark.parametrize("pointers", [each.value for each in PointerAnalysis])
@pytest.mark.parametrize("field_access", ["insensitive", "callee", "sensitive"])
def test_the_labels_in_all_files(pointers: str, field_access: str) -> None:
    content = facts("--pointers", pointers, "--field-access", field_access)
    assert (content["pointers"], content["field_access"]) == (pointers, field_access)
    assert content["files"] == ["bank.py", "auditing.py"]
    assert labels(content) == {
        (5, "w Account.name", "thread-local"),
        (6, "w Account.balance", "thread-local"),
        (8, "r Account.balance", "relevant"),
        (8, "w Account.balance", "relevant"),
        (2, "r Account.name", "immutable"),
        (2, "w Account.audited", "relevant"),
    }


def test_the_source_annotated() -> None:
    lines = run("bank.py::main", "--annotate").output.splitlines()
    at = lines.index("    8          self.balance += amount")
    assert lines[at + 1 : at + 3] == [
        "               # r Account.balance: relevant: a thread in work may write it, bank.py:8",
        "               # w Account.balance: relevant: a thread in work may write it, bank.py:8",
    ]
    assert "           # r Account.name: immutable: nothing writes it once its object may have escaped" in lines


def test_the_call_graph() -> None:
    dot = run("bank.py::main", "--dot").output
    assert '"main:12" -> "work:9" [style=dotted];' in dot
    assert '"work:9" -> "audit:1" [style=solid];' in dot


def test_the_facts_go_to_a_file_beside() -> None:
    done = run("bank.py::main", "--json", "facts.json")
    assert "immutable fields" in done.output
    assert json.loads(Path("facts.json").read_text()) == facts()


REPLACING = BANK.replace("    account.deposit(1)\n", "    account.__class__ = type(account)\n")


def test_a_program_of_which_nothing_is_known() -> None:
    Path("bank.py").write_text(REPLACING)
    why = "nothing is known of this program: __class__ of an object is replaced, bank.py:10"
    assert run("bank.py::main").output.startswith(why)
    assert run("bank.py::main", "--annotate").output.startswith(why)
    content = facts()
    assert (content["unknown"], content["immutable"], content["accesses"]) == (
        "__class__ of an object is replaced, bank.py:10", [], []
    )  # fmt: skip
    for strategy in ("sa", "dpor+static"):
        assert dpor.check("bank.py::main", strategy=strategy, all=True).exhaustive


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.py::main"], "none.py::main: there is no file none.py"),
        (["bank.py::nothing"], "bank.py::nothing: there is no 'nothing' in bank"),
        (["bank.py"], "bank.py: a target is path/file.py::name (as in bank.py::main"),
        (["broken.py::main"], "broken.py"),
        (["programs.json"], "programs.json: only Python programs are analysed"),
        (["bank.py::main", "--dot", "--annotate"], "--dot and --annotate exclude each other; leave one out"),
        (["bank.py::main", "--instrument", "nowhere"], "--instrument nowhere: there is no such package"),
    ],
)
def test_wrong_usage_is_one_line(arguments: list[str], message: str) -> None:
    Path("broken.py").write_text("def main(:")
    Path("programs.json").write_text('{"name": "p", "threads": [[]]}')
    done = run(*arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert "Traceback" not in done.output
    assert done.stdout == ""


@pytest.mark.parametrize("command", ["analyze", "check", "compare"])
def test_the_values_of_options_are_told_as_they_are_given(command: str) -> None:
    help_text = CliRunner().invoke(cli, [command, "--help"]).output
    assert "[none|ci-ex|cs-ex|ci-dd|cs-dd]" in help_text
    assert command != "check" or "[events|choices|nothing]" in help_text
