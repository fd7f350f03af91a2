"""Drop-ins for what a program synchronises with, or what differs from run to run: `threading`, `time`, `random`, ...

One file for each primitive. A drop-in has the real class's signature, errors and repr, and leaves decisions to the pure
rules of `dpor.primitives`. What it does to a synchronisation object is one `perform`, so events can be counted; what it
only looks at is determined by the caller's own past, or is an event too.

stdlib, modules, modules_of_program   which module a program gets for a name; `sys.modules`
state, presentation, patches          what drop-ins remember, how they look, names that are replaced for a run
threading, threads, raw_threads, listing, idents, locals, from_threading   `threading` and `_thread`
locks, semaphores, conditions, events, internals, timeouts   their primitives
queues, simple_queue, futures, future, pools   `queue`, `concurrent.futures`
loops                                 `asyncio`
process_locks, process_queues, thread_pools, process_parts   `multiprocessing` within one process
descriptors, sockets, selecting       pipes, sockets and waiting for them
importing, module_locks               imports while threads run
time, datetime, random, environ, logs, exits, functools, caches, dataclasses, enums, folders   modules of these
                                      names, or of such as `logging`, `atexit` and `os`
copying, program_code, thread_pool_code, handled_pool_code, generated_code, generating, mixins, program_proxies,
weak_proxies                          code that is instrumented as the program's is
outside                               what is refused

While a run is unwound, `perform` may return anything; so drop-ins compare results with `is False`, never by truth.
"""
