"""CPython's own suites of what is modelled, and the tests in them that make no sense under control, with the reason."""

from __future__ import annotations

from typing import NamedTuple

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

FORK = "forks, or looks at what only a fork would leave"
PROCESSES = "a pool of processes"
INTERNALS = "looks at attributes of CPython's implementation, or at its C structures"
SIGNALS = "signals, and exceptions thrown into other threads, come at moments that no schedule has"
PRINTED = "what nobody catches in a thread is a finding, and told by the report instead of on standard error"
LIFETIMES = "objects that a weak reference is asked for live until the run ends, which the report says"
PIPES = "waits for a pipe, which would stop all threads"
TRACING = "traces threads that run already, all of which are one to Python here"
TIMING = "counts on it that other threads need some time, or are done in time"
DOCTEST = "a doctest: its code is not instrumented"


class Excluded(NamedTuple):
    """A test that is not run.

    suite, test    the suite, and a pattern of the names of its tests: each matches something
    since, until   the first and the last Python on which it fails here
    """

    suite: str
    test: str
    reason: str
    since: tuple[int, int] = (3, 11)
    until: tuple[int, int] = (3, 99)


EXCLUDED = [
    Excluded("test_thread", "LockTests.test_weakref_deleted", LIFETIMES),
    Excluded("test_thread", "TestForkInThread.test_forkinthread", FORK),
    Excluded("test_thread", "ThreadRunningTests.test_unraisable_exception", PRINTED),
    Excluded("test_threading", "CRLockTests.test_weakref_deleted", LIFETIMES),
    Excluded("test_threading", "ConditionAsRLockTests.test_weakref_deleted", LIFETIMES),
    Excluded("test_threading", "EventTests.test_at_fork_reinit", FORK),
    Excluded("test_threading", "ExceptHookTests.test_custom_excepthook_fail", PRINTED),
    Excluded("test_threading", "ExceptHookTests.test_excepthook", PRINTED),
    Excluded("test_threading", "InterruptMainTests.test_interrupt_main_*", SIGNALS),
    Excluded("test_threading", "LockTests.test_weakref_deleted", LIFETIMES),
    Excluded("test_threading", "MiscTestCase.test__all__", INTERNALS),
    Excluded("test_threading", "SubinterpThreadingTests.test_threads_join*", PIPES),
    Excluded("test_threading", "ThreadJoinOnShutdown.test_clear_threads_states_after_fork", FORK),
    Excluded("test_threading", "ThreadJoinOnShutdown.test_reinit_tls_after_fork", FORK),
    Excluded("test_threading", "ThreadTests.test_PyThreadState_SetAsyncExc", SIGNALS),
    Excluded("test_threading", "ThreadTests.test_disallow_instantiation", INTERNALS, until=(3, 12)),
    Excluded("test_threading", "ThreadTests.test_foreign_thread", INTERNALS),
    Excluded("test_threading", "ThreadTests.test_getprofile_all_threads", TRACING, since=(3, 12)),
    Excluded("test_threading", "ThreadTests.test_gettrace_all_threads", TRACING, since=(3, 12)),
    Excluded("test_threading", "ThreadTests.test_ident_of_no_threading_threads", INTERNALS, until=(3, 12)),
    Excluded("test_threading", "ThreadTests.test_is_alive_after_fork", FORK),
    Excluded("test_threading", "ThreadTests.test_limbo_cleanup", INTERNALS),
    Excluded("test_threading", "ThreadTests.test_name", INTERNALS),
    Excluded("test_threading", "ThreadTests.test_no_refcycle_through_target", LIFETIMES),
    Excluded("test_threading", "ThreadTests.test_shutdown_locks", INTERNALS, until=(3, 12)),
    Excluded("test_threading", "ThreadTests.test_tstate_lock", INTERNALS, until=(3, 12)),
    Excluded("test_threading_local", "*ThreadLocalTest.test_local_refs", LIFETIMES),
    Excluded("test_threading_local", "PyThreadingLocalTest.test_local_refs", LIFETIMES),
    Excluded("test_threading_local", "_threading_local", DOCTEST, until=(3, 13)),
    Excluded("test_concurrent_futures.test_as_completed", "ProcessPool*", PROCESSES),
    Excluded("test_concurrent_futures.test_init", "ProcessPool*", PROCESSES),
    Excluded("test_concurrent_futures.test_init", "FailingInitializerResourcesTest.*", PROCESSES),
    Excluded("test_concurrent_futures.test_shutdown", "ProcessPool*", PROCESSES),
    Excluded("test_concurrent_futures.test_shutdown", "ThreadPoolShutdownTest.test_cancel_futures", TIMING),
    Excluded("test_concurrent_futures.test_shutdown", "ThreadPoolShutdownTest.test_del_shutdown", LIFETIMES),
    Excluded("test_concurrent_futures.test_shutdown", "ThreadPoolShutdownTest.test_hang_gh94440", SIGNALS),
    Excluded("test_concurrent_futures.test_shutdown", "ThreadPoolShutdownTest.test_thread_names_*", LIFETIMES),
    Excluded("test_concurrent_futures.test_thread_pool", "*.test_free_reference", LIFETIMES),
    Excluded("test_concurrent_futures.test_thread_pool", "*.test_hang_global_shutdown_lock", PROCESSES),
    Excluded("test_concurrent_futures.test_thread_pool", "*.test_no_stale_references", LIFETIMES),
    Excluded("test_concurrent_futures.test_wait", "ProcessPool*", PROCESSES),
]
