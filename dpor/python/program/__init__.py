"""A Python program as a system: loads the target and its modules, runs it, and knows facts about its source.

system, layers             the system; what it gives the layers below
target, host_functions, counterparts   what is run; functions of the host as the program's own
loader, border, program_module   imports of the program's modules; which these are; one of them
import_once, import_effects   imports that need not be executed again
initial_state, module_contents, restoring, watching   what modules hold, as each run finds it
sides, host, modules_in_c   modules of the host, and those that exist once
leftovers, host_containers, library_tables, abstract_classes   what programs change there
changing_globals, static_facts, hidden_words   what is known of source and of objects before a run
silent_accesses, every_access   which accesses are events
blocked_findings, afterlife, sink   how runs end, what happens long after them, what they print
"""
