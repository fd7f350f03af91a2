"""One run: its state, who moves next, what becomes an event, threads, time, loops, what the search assumes.

run            the state of the one run                  driving        a run from its beginning to its end
scheduler      who moves next; scheduling points         threads        model threads begin, live and end
accessing      plain accesses become events              performing     operations with a rule become events
data_choices   `dpor.choose`                             events         recorded, or compared with the trace
sync_objects   what threads wait for                     blocked, stuck who is left blocked, and why, in words
unwinding      how a run ends before its threads do      incomplete     why it stands for less than everything
assumptions    facts, and what a run has broken          opaque_code    code that is not instrumented
"""
