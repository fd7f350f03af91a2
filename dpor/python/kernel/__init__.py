"""One run: its state, who moves next, what becomes an event, threads, time, loops, and the search's assumptions.

run            the state of the current run              driving        carries out a run from start to end
scheduler      who moves next; scheduling points         threads        how model threads begin and end
accessing      plain accesses become events              performing     operations with a rule become events
data_choices   `dpor.choose`                             events         recording, and comparing with the trace
sync_objects   what threads wait for                     blocked, stuck who is left blocked, and why, in words
interest       `dpor.assume`, `dpor.reached`
unwinding      ending a run before its threads end       incomplete     why a run does not cover everything
assumptions    facts, and how runs break assumptions     opaque_code    code that is not instrumented
"""
