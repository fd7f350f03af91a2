"""What a user starts: checks, replays, comparisons, analyses, the doctor.

checking, stages, strategies   a check: its searches, one after another; options become a search
course, phases, budgets        what is known of a check meanwhile; its time; last resorts
searching, branching           one search, run by run; which accesses branch most
found, explaining, saving      what a search has found; its failures explained; their schedules as saved
remainder, checkpoint, resuming   what is left of a search that was cut; its file; going on with it
targets                        what is checked
mapping                        the map of what a search has explored
replaying, debugger            a saved schedule, once more or in Python's debugger
advice                         the command to try next
comparing, analysing, doctor   the tasks of `dpor compare`, `dpor analyze` and `dpor doctor`
option_docs                    the options as the documents list them

sharing, working               a search by several processes: the one that keeps it, and one that has a part
crew                           the seam between these, whatever carries their messages
processes, forking             processes of this machine, and what makes them
cluster, hosting, shipping     processes of a Dask cluster; what starts them there; the program that goes there
"""
