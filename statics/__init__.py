"""Facts about a program's source, for searches that drop choices; it never imports `dpor`.

`facts.analyse` makes them. Source becomes three-address code (`scopes`, `expressions`, `statements`, printed by
`ir.show`); `constraints.PointsTo` finds what variables point to and what calls call; on that stand `field_access`,
`escape` and `immutable`. `bytecode` and `liveness` are about code objects, for exact states.
"""
