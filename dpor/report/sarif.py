"""Findings in SARIF 2.1.0, the format of code scanning (OASIS, 2020), from the JSON reports of `dpor check`.

A finding is a result. The interleaving that shows it is its code flow: one thread flow for each thread, whose steps are
numbered across all threads (`executionOrder`). A check without a verdict is a result of kind "open".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from dpor.core.schedule import to_json_text
from dpor.core.steps import change
from dpor.core.version import VERSION
from dpor.report.places import WORDS, Located, SourceLine, located, place_of, within

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
INCONCLUSIVE = "inconclusive"
LONGEST_FLOW = 5_000
"""Steps of a code flow: readers of SARIF have limits. The last ones are kept."""


def to_sarif(reports: Iterable[Mapping[str, Any]], root: str, troubles: Sequence[str] = ()) -> str:
    """Return the text of a SARIF file.

    root       the folder that paths are relative to
    troubles   what kept targets from being checked, a line each
    """
    reports = list(reports)
    rules = [*WORDS, INCONCLUSIVE]
    results = [_result(found, root, rules) for found in located(reports)]
    results += [_open(report, root, rules) for report in reports if report["verdict"] == INCONCLUSIVE]
    run = {
        "tool": {"driver": {"name": "dpor", "semanticVersion": VERSION, "rules": [_rule(name) for name in rules]}},
        "invocations": [
            {
                "executionSuccessful": not troubles,
                "toolExecutionNotifications": [{"level": "error", "message": {"text": line}} for line in troubles],
            }
        ],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return to_json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(name: str) -> dict[str, Any]:
    text = WORDS.get(name, "No failure was found, and not everything was covered")
    return {"id": name, "shortDescription": {"text": f"{text}."}}


def _result(found: Located, root: str, rules: list[str]) -> dict[str, Any]:
    kind = found.finding["kind"]
    result = {
        "ruleId": kind,
        "ruleIndex": rules.index(kind),
        "level": "error",
        "message": {"text": found.message},
        "locations": _locations(found.place, root),
        "partialFingerprints": {"dporFinding/v1": _fingerprint(found, root)},
        "properties": {
            "target": found.target,
            "strategies": list(found.strategies),
            "schedule": found.finding["schedule"],
        },
    }
    if found.other is not None:
        result["relatedLocations"] = [{"id": 1, **each} for each in _locations(found.other, root)]
    flows = [*_thread_flows(found.finding["trace"], root)]
    if flows:
        result["codeFlows"] = [{"threadFlows": flows}]
    return result


def _open(report: Mapping[str, Any], root: str, rules: list[str]) -> dict[str, Any]:
    text = f"{report['target']}: no failure was found, and not everything was covered: {'; '.join(report['reasons'])}"
    return {
        "ruleId": INCONCLUSIVE,
        "ruleIndex": rules.index(INCONCLUSIVE),
        "kind": "open",
        "level": "none",
        "message": {"text": text},
        "locations": _locations(place_of(report["target"]), root),
        "properties": {"target": report["target"], "strategies": [report["strategy"]]},
    }


def _thread_flows(steps: Sequence[Mapping[str, Any]], root: str) -> Iterator[dict[str, Any]]:
    """Yield for each thread its steps, numbered from 1 in the order of the run."""
    numbered = [*enumerate(steps, 1)][-LONGEST_FLOW:]
    for thread in dict.fromkeys(step["thread"] for _, step in numbered):
        places = [
            {
                "location": {
                    **_location(SourceLine(step["file"], step["line"]), root),
                    "message": {"text": f"{step['operation']}  {change(step['value'], step['after'])}".strip()},
                },
                "executionOrder": number,
                "importance": "essential" if step["racing"] else "important",
            }
            for number, step in numbered
            if step["thread"] == thread and step["file"] is not None
        ]
        if places:
            yield {"id": thread, "locations": places}


def _locations(place: SourceLine | None, root: str) -> list[dict[str, Any]]:
    return [] if place is None else [_location(place, root)]


def _location(place: SourceLine, root: str) -> dict[str, Any]:
    region = {} if place.line is None else {"region": {"startLine": place.line}}
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(place.file, root)}, **region}}


def _uri(file: str, root: str) -> str:
    path = PurePosixPath(within(file, root))
    return f"file://{quote(str(path))}" if path.is_absolute() else quote(str(path))


def _fingerprint(found: Located, root: str) -> str:
    """Return a fingerprint that stays the same if lines are added above the failure: made of file and text, not of the
    line."""
    file = None if found.place is None else within(found.place.file, root)
    text = repr((found.finding["kind"], file, found.finding["message"]))
    return sha256(text.encode(errors="backslashreplace")).hexdigest()[:32]
