"""How programs come by modules and by what lies beside them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

import dpor
from tests.source_outcomes import outcomes

STRATEGIES = ("optimal", "dpor")


def write(directory: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text)


# ---------------------------------------------------------------------- what lies beside modules

LOOKS = {
    "files": "resources.files('parcel').joinpath('data.txt').read_text()",
    "files of the module": "resources.files(parcel).joinpath('data.txt').read_text()",
    "bytes": "resources.files('parcel').joinpath('data.txt').read_bytes().decode()",
    "pkgutil": "pkgutil.get_data('parcel', 'data.txt').decode()",
    "loader": "parcel.__loader__.get_data(parcel.__path__[0] + '/data.txt').decode()",
    "spec": "parcel.__spec__.loader.get_data(parcel.__spec__.submodule_search_locations[0] + '/data.txt').decode()",
    "as_file": "with_path(resources.as_file(resources.files('parcel') / 'data.txt'))",
    "source": "inspect.getsource(inner).strip().partition(' ')[2]",
    "get_source": "inner.__loader__.get_source('parcel.inner').strip().partition(' ')[2]",
    "is_package": "'data' if parcel.__loader__.is_package('parcel') else 'none'",
    "no package": "'none' if inner.__loader__.is_package('parcel.inner') else 'data'",
    "iter_modules": "'data' if [m.name for m in pkgutil.iter_modules(parcel.__path__)] == ['inner'] else 'none'",
    "nested": "resources.files('parcel').joinpath('more', 'data.txt').read_text()",
}

LOOKING = """
    import inspect, pkgutil, sys
    from importlib import resources
    import parcel
    from parcel import inner

    def with_path(found):
        with found as path:
            return path.read_text()

    def scenario():
        seen = []
        run(lambda: seen.append({look}))
        return seen[0]
"""
PARCEL = {
    "parcel/__init__.py": "",
    "parcel/inner.py": "# data\n",
    "parcel/data.txt": "data",
    "parcel/more/data.txt": "data",
}


@pytest.mark.parametrize("look", LOOKS)
def test_what_lies_beside_a_module_of_the_program_is_found(tmp_path: Path, look: str) -> None:
    write(tmp_path, PARCEL)
    assert outcomes(tmp_path, LOOKING.format(look=LOOKS[look])) == {"data"}


@pytest.mark.parametrize("look", LOOKS)
def test_what_lies_beside_a_module_in_an_archive_is_found(tmp_path: Path, look: str) -> None:
    with zipfile.ZipFile(tmp_path / "parcels.zip", "w") as archive:
        for name, text in PARCEL.items():
            archive.writestr(name, text)
    path = f"import sys\nsys.path.insert(0, {str(tmp_path / 'parcels.zip')!r})\n"
    source = LOOKING.replace("    import inspect", f"    {path.replace(chr(10), chr(10) + '    ')}import inspect", 1)
    assert outcomes(tmp_path, source.format(look=LOOKS[look])) == {"data"}


def test_metadata_is_imported_from_importlib(tmp_path: Path) -> None:
    source = """
    from importlib import metadata, util
    import importlib.metadata as same

    def scenario():
        return metadata is same, len(metadata.version("attrs")) > 0, util.find_spec("no_such_module")
    """
    assert outcomes(tmp_path, source) == {(True, True, None)}


def test_a_module_of_the_library_that_the_program_executes_is_the_models(tmp_path: Path) -> None:
    source = """
    import importlib.util

    def scenario():
        spec = importlib.util.find_spec("queue")
        queue = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(queue)
        q = queue.Queue()
        threading.Thread(target=q.put, args=(1,)).start()
        return q.get(), queue.__name__
    """
    assert outcomes(tmp_path, source) == {(1, "queue")}


def test_a_module_that_cannot_be_imported_twice_is_told(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    made = str(tmp_path / "made")
    file.write_text(f"import os\nos.mkdir({made!r})\nitems = []\ndef scenario(): items.append(1)\n")
    report = dpor.check(f"{file}::scenario")
    assert report.verdict == "inconclusive"
    assert "cannot be imported again, as it is before each run: FileExistsError" in report.reasons[0]
    assert "(program.py:2)" in report.reasons[0]


# ---------------------------------------------------------------------- where modules are

COUNTER = "count = 0\ndef bump():\n    global count\n    count += 1\n"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_module_in_an_archive_is_a_part_of_the_program(tmp_path: Path, strategy: str) -> None:
    with zipfile.ZipFile(tmp_path / "counters.zip", "w") as archive:
        archive.writestr("counter_in_zip.py", COUNTER)
    source = f"""
    import sys
    sys.path.insert(0, {str(tmp_path / "counters.zip")!r})
    import counter_in_zip

    def scenario():
        run(counter_in_zip.bump, counter_in_zip.bump)
        return counter_in_zip.count
    """
    assert outcomes(tmp_path, source, strategy) == {1, 2}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_module_in_a_namespace_package_is_as_new_in_each_run(tmp_path: Path, strategy: str) -> None:
    write(tmp_path, {"space/counter.py": COUNTER + "seen = []\n", "space/inner/leaf.py": "ONE = 1\n"})
    source = """
    from space import counter
    import space.inner.leaf
    SEEN = counter.seen

    def scenario():
        run(counter.bump, counter.bump)
        SEEN.append(space.inner.leaf.ONE)
        return counter.count, counter.seen is SEEN, len(SEEN)
    """
    assert outcomes(tmp_path, source, strategy) == {(1, True, 1), (2, True, 1)}


# ---------------------------------------------------------------------- ways to the drop-ins

WAYS = {
    "import": "import queue\nQ = queue",
    "sys.modules": "import queue\nQ = sys.modules['queue']",
    "get": "import queue\nQ = sys.modules.get('queue')",
    "from sys": "import queue\nfrom sys import modules\nQ = modules['queue']",
    "getattr": "import queue\nQ = getattr(sys, 'modules')['queue']",
    "pop": "import queue\nQ = sys.modules.pop('queue')",
    "copy": "import queue\nQ = sys.modules.copy()['queue']",
    "dict": "import queue\nQ = dict(sys.modules)['queue']",
    "items": "import queue\nQ = [module for name, module in sys.modules.items() if name == 'queue'][0]",
    "values": "import queue\nQ = [m for m in sys.modules.values() if getattr(m, '__name__', '') == 'queue'][0]",
    "setdefault": "import queue\nQ = sys.modules.setdefault('queue', None)",
    "import_module": "import importlib\nQ = importlib.import_module('queue')",
    "__import__": "Q = __import__('queue')",
    "from a module that is no part of the program": "from lib2to3_like import queue as Q",
    "six": "from six.moves import queue as Q",
    "six, as an attribute": "import six.moves\nQ = six.moves.queue",
}

SIX = """
import sys

def _import(name):
    __import__(name)
    return sys.modules[name]

class _Moves(type(sys)):
    __path__ = []

    @property
    def queue(self):
        return _import("queue")

moves = _Moves("six.moves")
sys.modules["six.moves"] = moves
"""


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("way", WAYS)
def test_a_modelled_module_is_the_same_in_every_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, strategy: str
) -> None:
    outside = tmp_path / "site-packages"
    write(outside, {"lib2to3_like.py": "import queue\n", "six.py": SIX})
    monkeypatch.syspath_prepend(str(outside))
    lines = WAYS[way].replace("\n", "\n    ")
    source = f"""
    import queue as expected
    import sys
    {lines}

    def scenario():
        q = Q.Queue()
        seen = []
        run(lambda: q.put(1), lambda: seen.append(q.get()))
        return seen[0], Q is expected
    """
    assert outcomes(tmp_path, source, strategy) == {(1, True)}


def test_sys_modules_is_as_the_program_has_left_it(tmp_path: Path) -> None:
    source = """
    import queue as expected
    import sys

    def scenario():
        kept = sys.modules.pop("queue")
        gone = "queue" not in sys.modules
        fake = sys.modules["queue"] = type(sys)("queue")
        import queue as other
        found = other is fake, sys.modules["queue"] is fake
        sys.modules["queue"] = kept
        import queue as again
        return gone, found, again is kept is expected, len(list(sys.modules)) == len(sys.modules)
    """
    assert outcomes(tmp_path, source) == {(True, (True, True), True, True)}
