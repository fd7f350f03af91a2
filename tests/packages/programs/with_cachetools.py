"""A cache that threads share, with and without a lock around it."""

import threading

from cachetools import LRUCache, cached
from cachetools.keys import hashkey


def in_two_threads(work):
    threads = [threading.Thread(target=work, args=(n,)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def without_a_lock():
    """Both evict to make room for their own: the counted size is not that of what is there."""
    cache = LRUCache(maxsize=1)

    def work(n):
        cache[n] = n

    in_two_threads(work)
    assert len(cache) == cache.currsize <= 1


def with_a_lock():
    cache = LRUCache(maxsize=1)
    lock = threading.Lock()

    def work(n):
        with lock:
            cache[n] = n

    in_two_threads(work)
    assert len(cache) == cache.currsize <= 1


def called_at_the_same_time():
    """`cached` holds its lock for the look-up and for the store, and not in between."""
    calls = []

    @cached(LRUCache(maxsize=2), key=lambda: hashkey(), lock=threading.Lock())
    def answer():
        calls.append(1)
        return 42

    in_two_threads(lambda n: answer())
    assert len(calls) == 1, f"called {len(calls)} times"


def consistent_all_the_same():
    cache = LRUCache(maxsize=2)

    @cached(cache, lock=threading.Lock())
    def answer(n):
        return 42

    in_two_threads(lambda n: answer(0))
    assert len(cache) == cache.currsize == 1
