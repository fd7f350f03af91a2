"""CPython's own test suites that run against instrumented modules, and the differences that are expected."""

from __future__ import annotations

FAST = {
    "heapq": "heapq",
    "textwrap": "textwrap",
    "fractions": "fractions",
    "collections": "collections _collections_abc",
    "dataclasses": "dataclasses",
    "enum": "enum",
    "functools": "functools",
    "contextlib": "contextlib",
    "grammar": "test.test_grammar",
    "scope": "test.test_scope",
    "patma": "test.test_patma",
    "coroutines": "test.test_coroutines",
}
"""Suite -> the modules that are instrumented, for every run of our tests."""

_SAME_NAME = """
    abc argparse ast bdb bisect calendar cmd codeop colorsys configparser contextlib copy copyreg csv
    dataclasses difflib dis enum filecmp fileinput fnmatch fractions functools genericpath getopt gettext glob
    graphlib gzip heapq hmac inspect ipaddress keyword linecache locale logging mimetypes modulefinder netrc
    ntpath operator optparse pathlib pickle pickletools pkgutil plistlib posixpath pprint py_compile pyclbr
    quopri random reprlib rlcompleter sched secrets selectors shelve shlex shutil socketserver stat statistics
    string struct symtable tabnanny tarfile tempfile textwrap threading timeit trace traceback types typing wave
    weakref zipapp zipfile
"""
LIBRARY = {
    **{name: name for name in _SAME_NAME.split()},
    "code_module": "code",
    "collections": "collections _collections_abc",
    "contextlib_async": "contextlib",
    "datetime": "datetime _pydatetime _strptime",
    "decimal": "decimal _pydecimal",
    "email": "email email.message email.parser email.feedparser email.header email.policy email._header_value_parser "
    "email.headerregistry email.generator email.charset email.utils",
    "html": "html html.entities",
    "htmlparser": "html.parser _markupbase",
    "http_cookiejar": "http.cookiejar",
    "http_cookies": "http.cookies",
    "io": "_pyio",
    "json": "json json.decoder json.encoder json.scanner",
    "memoryio": "_pyio",
    "minidom": "xml.dom.minidom xml.dom.pulldom xml.dom.expatbuilder",
    "numeric_tower": "fractions numbers",
    "ordered_dict": "collections",
    "profile": "profile pstats",
    "queue": "queue threading",
    "re": "re re._parser re._compiler",
    "sort": "functools",
    "strptime": "_strptime",
    "thread": "threading",
    "threading_local": "_threading_local",
    "tokenize": "tokenize token",
    "tomllib": "tomllib tomllib._parser tomllib._re",
    "unparse": "ast",
    "urllib": "urllib.request urllib.parse",
    "urlparse": "urllib.parse",
    "userdict": "collections _collections_abc",
    "userlist": "collections",
    "userstring": "collections",
    "warnings": "warnings",
    "weakset": "_weakrefset",
    "xml_etree": "xml.etree.ElementTree",
    "xmlrpc": "xmlrpc.client xmlrpc.server",
    "zoneinfo": "zoneinfo zoneinfo._zoneinfo zoneinfo._common",
}  # fmt: skip
"""The larger part of the pure-Python library."""

_LANGUAGE = """
    asyncgen augassign binop bool builtin call class collections compare contains contextlib_async coroutines
    dataclasses decorators descr dict dictcomps dynamicclassattribute enum except_star exception_variations
    exceptions extcall frame fstring funcattrs functools generator_stop generators genericclass genexps global
    grammar isinstance iter keywordonlyarg list listcomps metaclass named_expressions opcodes operator patma
    positional_only_arg property raise richcmp scope setcomps slice string_literals subclassinit super traceback
    type_aliases type_annotations type_comments type_params types typing unary unpack unpack_ex userdict with
    yield_from
"""
LANGUAGE = _LANGUAGE.split()
"""Suites about the language: here the tests themselves are instrumented."""

NAMES = "the hooks are among the module's globals, and nobody hides them here"
CODE = "looks at the names and constants of compiled code"
FRAMES = "sees, or counts, the frames of hooks that are written in Python"
FOREIGN = "runs a function's code with other globals, which lack the hooks"

EXPECTED = {
    "*.TestImportStar.test_all_exports_everything_but_modules": NAMES,
    "*.TestModule_*.test_name_cleanup": NAMES,
    "*.SignatureTest.test_inspect_module": NAMES,
    "*.CheckAttributes.test_module_attributes": NAMES,
    "*OperatorTestCase.test___all__": NAMES,
    "*.TestExports.test_exports": NAMES,
    "test.test_dis.*info": CODE,
    "test.test_dis.*test_show_code": CODE,
    "*test_inline_table_recursion_limit*": FRAMES,
    "test.test_trace.TestCallers.*": FRAMES,
    "test.test_trace.TestCoverage.*": FRAMES,
    "test.test_trace.TestFuncs.*": FRAMES,
    "test.test_trace.TestLineCounts.*": FRAMES,
    "test.test_trace.TestTrace.test_no_source_file": FRAMES,
    "test.test_bdb.BreakpointTestCase.*": FRAMES,
    "test.test_bdb.IssuesTestCase.*": FRAMES,
    "test.test_bdb.RunTestCase.*": FRAMES,
    "test.test_bdb.StateTestCase.*": FRAMES,
    "*.TestIncompleteFrameAreInvisible.test_sneaky_frame_object": FRAMES,
    "test.test_funcattrs.FunctionPropertiesTest.test___builtins__": FOREIGN,
    "test.test_generators.ModifyUnderlyingIterableTest.test_new_gen_from_gi_code": FOREIGN,
    "test.test_types.FunctionTests.test_function_type_defaults": FOREIGN,
    "test.test_types.TypesTests.test_names": NAMES,
}
"""Tests that fail with hooks (as patterns), and why that is as it should be."""
