"""How fast is it? `python -m bench`: executions a second, microseconds an event, the share of replay.

targets.py    the Python programs that are explored, programs.json the abstract ones
programs.py   which there are, and what another checker needs for them
measure.py    measures one program; also a script, so that another commit's `dpor` can be measured
compare.py    two commits, measured in turns
memory.py     peak memory after few and after many executions
"""
