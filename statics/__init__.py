"""Static analysis of a program's source, for searches that drop choices [PL]. It never imports `dpor`.

`facts.analyse` runs it and returns `Facts`. Source becomes three-address code (`scopes`, `expressions`, `statements`,
shown by `ir.function_text`); `constraints.PointsTo` finds what variables point to and what calls call; `field_access`,
`escape` and `immutable` use that. `bytecode` and `liveness` analyse code objects, for exact states.
"""
