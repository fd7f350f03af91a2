"""Immutable fields: no write goes through a variable whose object may have escaped to the heap [PL, section 6.3]."""

from __future__ import annotations

from typing import NamedTuple

from dpor.statics import ir
from dpor.statics.call_graph import FRESH, NATIVE, Site, Touch
from dpor.statics.constraints import PointsTo
from dpor.statics.escape import Escape
from dpor.statics.objects import ANY, Field, ObjectKind


class Reason(NamedTuple):
    """Why a field is not immutable, and where: path and line, "" and 0 for code outside the program."""

    why: str
    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.why}, {self.path}:{self.line}" if self.line else self.why


def immutable_fields(points_to: PointsTo, escape: Escape) -> tuple[set[Field], dict[Field, Reason]]:
    """Return the immutable fields of the program's instances, and for each other field the reason."""
    fields: set[Field] = set()
    mutable: dict[Field, Reason] = {}
    looked_up_in: dict[Field, set[int]] = {}
    """Of each field, the classes in which it may be found in place of what is in the object."""
    for site, touches in sorted(points_to.touches.items()):
        for touch in touches:
            kind = points_to.objects[touch.thing].kind
            if kind is ObjectKind.INSTANCE:
                found = _each_field(points_to, touch)
                if touch.mode == "w":
                    fields |= found
                    classes = points_to.ancestors(points_to.number(points_to.objects[touch.thing].of))
                    for field in found:
                        looked_up_in.setdefault(field, set()).update(classes)
                    reason = _reason(points_to, escape, site)
                    if reason is not None:
                        for field in found:
                            mutable.setdefault(field, reason)
    for site, touches in sorted(points_to.touches.items()):
        for touch in touches:
            if (
                touch.mode == "w"
                and points_to.objects[touch.thing].kind is ObjectKind.CLASS
                and not points_to.in_class_body(site)
            ):
                where = _where(points_to, site)
                for field in fields:
                    if touch.name in (ANY, field.name) and touch.thing in looked_up_in[field]:
                        mutable.setdefault(field, Reason("an attribute of the class is replaced", *where))
    written = {field for field in fields if field.name != ANY}
    return written - set(mutable), mutable


def _each_field(points_to: PointsTo, touch: Touch) -> set[Field]:
    if touch.name != ANY:
        return set(points_to.fields_of(touch))
    names = points_to.field_names[touch.thing]
    return {field for name in names for field in points_to.fields_of(touch._replace(name=name))}


def _reason(points_to: PointsTo, escape: Escape, site: Site) -> Reason | None:
    """Why a write there may go to an object that has escaped; None if it does not."""
    if site[0] == NATIVE:
        return Reason("the object is given to code outside the program, which may write it", "", 0)
    instruction = points_to.instances[site[0]].function.instructions[site[1]]
    if isinstance(instruction, (ir.StoreAttribute, ir.DeleteAttribute)):
        if escape.escaped(site, instruction.base):
            verb = "written" if isinstance(instruction, ir.StoreAttribute) else "deleted"
            return Reason(f"{verb} after the object may have escaped", *_where(points_to, site))
        return None
    if (
        isinstance(instruction, ir.Call)
        and instruction.dst != FRESH
        and not points_to.heap_results.intersection({site})
    ):
        return None  # a constructor that stores its arguments
    return Reason("written by code outside the program", *_where(points_to, site))


def _where(points_to: PointsTo, site: Site) -> tuple[str, int]:
    function = points_to.instances[site[0]].function
    return function.path, function.positions[site[1]].line
