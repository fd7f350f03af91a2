"""CPython's own suites of what is modelled, and the tests in them that make no sense under control, with the reason."""

from __future__ import annotations

SUITES = [
    "test_queue",
    "test_thread",
    "test_threading",
    "test_threading_local",
    "test_sched",
    "test_concurrent_futures.test_as_completed",
    "test_concurrent_futures.test_future",
    "test_concurrent_futures.test_init",
    "test_concurrent_futures.test_shutdown",
    "test_concurrent_futures.test_thread_pool",
    "test_concurrent_futures.test_wait",
]

FORK = "forks"
PROCESS = "starts an interpreter of its own"
INTERNALS = "looks at attributes of CPython's implementation, or at its C structures"
SIGNALS = "signals, and exceptions thrown into other threads, come at moments that no schedule has"
PRINTED = "what nobody catches in a thread is a finding, and told by the report instead of on standard error"
LIFETIMES = "objects that a weak reference is asked for live until the run ends, which the report tells as a limit"
PIPES = "waits for a pipe, which would stop all threads"

EXCLUDED = {
    "*fork*": FORK,
    "*Fork*": FORK,
    "*test_join_on_shutdown": PROCESS,
    "*ThreadJoinOnShutdown*": PROCESS,
    "*Subinterp*": PIPES,
    "*DaemonThread*Subinterp*": PIPES,
    "*InterruptMain*": SIGNALS,
    "*SetAsyncExc": SIGNALS,
    "*at_exit*": PROCESS,
    "*shutdown": PROCESS,
    "*finaliz*": PROCESS,
    "*test_debug_deprecation": PROCESS,
    "*test_import_from_another_thread": PROCESS,
    "*test_main_thread_during_shutdown": PROCESS,
    "*test_multithread_modify_file_noerror": PROCESS,
    "*test_print_exception*": PROCESS,
    "*test_recursion_limit": PROCESS,
    "*test_bare_raise_in_brand_new_thread": PRINTED,
    "*test_unraisable_exception": PRINTED,
    "*test_custom_excepthook_fail": PRINTED,
    "ExceptHookTests.test_excepthook": PRINTED,
    "*test_excepthook_thread_None": PRINTED,
    "*test_frame_tstate_tracing": INTERNALS,
    "*test_tstate_lock": INTERNALS,
    "*test_shutdown_locks": INTERNALS,
    "*test_limbo_cleanup": INTERNALS,
    "*test_leak_without_join": PROCESS,
    "*test_ident_of_no_threading_threads": INTERNALS,
    "*test_foreign_thread": INTERNALS,
    "*test_disallow_instantiation": INTERNALS,
    "*_at_fork_reinit": FORK,
    "MiscTestCase.test__all__": INTERNALS,
    "_threading_local": "a doctest: its code is not instrumented",
    "LockTests.test_weakref_deleted": LIFETIMES,
    "*ThreadingLocalTest.test_local_refs": LIFETIMES,
    "ThreadLocalTest.test_local_refs": LIFETIMES,
    "*ProcessPool*": PROCESS,
}
"""Tests that are not run (as patterns)."""
