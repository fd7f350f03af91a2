"""SARIF files are of the form that its standard prescribes: its whole schema, from a package of npm that has it."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from dpor.cli.main import cli

pytestmark = [pytest.mark.network, pytest.mark.slow]

PACKAGE = "@microsoft/jest-sarif@1.0.0-beta.0"
TARGETS = {
    "failure": ["check", "racy_counter", "--all"],
    "race": ["check", "racy_counter", "--races"],
    "bug": ["check", "pool:bug", "--max-seconds", "10"],
    "inconclusive": ["check", "locked_counter", "--max-executions", "1"],
    "pass": ["check", "locked_counter"],
    "comparison": ["compare", "racy_counter", "locked_counter", "--strategies", "optimal,dpor"],
}


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> object:
    if shutil.which("npm") is None:
        pytest.skip("there is no npm here")
    folder = tmp_path_factory.mktemp("npm")
    subprocess.run(["npm", "pack", PACKAGE], cwd=folder, check=True, capture_output=True)
    (archive,) = folder.glob("*.tgz")
    with tarfile.open(archive) as packed:
        file = packed.extractfile("package/lib/schemas/sarif-2.1.0-rtm.5.json")
        assert file is not None
        return json.load(file)


@pytest.mark.parametrize("arguments", TARGETS.values(), ids=TARGETS)
def test_a_file_is_of_the_standard_s_form(
    arguments: list[str], schema: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    done = CliRunner().invoke(cli, [*arguments, "--sarif", "out.sarif"])
    assert done.exit_code in (0, 1, 3), done.output
    jsonschema.validate(json.loads(Path("out.sarif").read_text()), schema)
