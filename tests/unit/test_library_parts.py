"""When the submodules that the host has of a package of the library are imported."""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from dpor.python.program.library_parts import LibraryParts


def test_parts_are_imported_when_no_module_is_half_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `http.client` needs `urllib.parse`, and `urllib.request`, which the host has imported, `http.client`."""
    for file, source in {
        "part_http/__init__.py": "",
        "part_http/client.py": "import part_urllib.parse\nclass Connection: pass\n",
        "part_urllib/__init__.py": "",
        "part_urllib/parse.py": "",
        "part_urllib/request.py": "import part_http.client\nkind = part_http.client.Connection\n",
    }.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    request = importlib.import_module("part_urllib.request")
    host = {name: sys.modules.pop(name) for name in [*sys.modules] if name.startswith(("part_http", "part_urllib"))}
    parts = LibraryParts(host.get)

    class Executing(SourceFileLoader):
        def exec_module(self, module: ModuleType) -> None:
            with parts.executing(module.__name__, module):
                super().exec_module(module)

    class Finder:
        def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
            spec = PathFinder.find_spec(name, path, target) if name in host else None
            if spec is not None:
                spec.loader = Executing(name, str(spec.origin))
            return spec

    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
    client = importlib.import_module("part_http.client")
    made = {name: sys.modules.pop(name) for name in host}
    assert made["part_urllib.request"] is made["part_urllib"].request is not request
    assert made["part_urllib.request"].kind is client.Connection
