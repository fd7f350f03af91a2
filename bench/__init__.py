"""How fast is it? `python -m bench`: executions a second, microseconds an event, the share of replay.

measure.py    measures one program; also a script, so that another commit's `dpor` can be measured
programs.py   which there are, and what another checker needs for them; they are in targets/
compare.py    two commits, measured in turns
memory.py     peak memory after few and after many executions
peers.py      the same small programs under other tools

And the tables of Parizek and Lhotak's paper for our workloads, `python -m bench tables`; README.md tells what they say.

cells.py      one workload under one configuration
tables.py     which cells each table has, and how it is written
shape.py      what is to be fewer than what
figures.py    charts, with matplotlib
regenerating.py   runs the cells, writes results/tables.json (results.schema.json)
"""
