"""urllib3's pool of connections, with connections that go nowhere."""

import threading

from urllib3.connectionpool import HTTPConnectionPool
from urllib3.exceptions import ClosedPoolError, EmptyPoolError


class Connection:
    """What the pool asks of one."""

    is_closed = False
    is_connected = True
    proxy_is_verified = None
    auto_open = 1

    def __init__(self, **how):
        self.in_use = False

    def close(self):
        self.is_closed = True


class Pool(HTTPConnectionPool):
    ConnectionCls = Connection


def in_two_threads(*works):
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def use(pool):
    connection = pool._get_conn()
    assert not connection.in_use, "two threads have one connection"
    connection.in_use = True
    connection.in_use = False
    pool._put_conn(connection)


def a_connection_for_each():
    """A pool of one that blocks: both get it, one after the other, and no other is made."""
    pool = Pool("host", maxsize=1, block=True)
    in_two_threads(lambda: use(pool), lambda: use(pool))
    assert pool.num_connections == 1


def counted_exactly():
    """A pool that does not block makes a second one; how many it made is counted without a lock."""
    pool = Pool("host", maxsize=2)
    made = []
    made_by_pool = pool._new_conn

    def new():
        made.append(1)
        return made_by_pool()

    pool._new_conn = new
    in_two_threads(lambda: use(pool), lambda: use(pool))
    assert pool.num_connections == len(made), f"made {len(made)}, counted {pool.num_connections}"


def closed_meanwhile():
    """Who still has a connection when the pool is closed can give it back: it is closed, and nobody is told."""
    pool = Pool("host", maxsize=1, block=True)
    seen = []

    def work():
        try:
            connection = pool._get_conn()
        except ClosedPoolError:
            return
        seen.append(connection)
        pool._put_conn(connection)

    in_two_threads(work, pool.close)
    assert all(connection.is_closed for connection in seen), "a connection is left open"


def never_given_back():
    pool = Pool("host", maxsize=1, block=True)
    in_two_threads(pool._get_conn, pool._get_conn)


def never_given_back_with_a_timeout():
    pool = Pool("host", maxsize=1, block=True)
    empty = []

    def work():
        try:
            pool._get_conn(timeout=1)
        except EmptyPoolError:
            empty.append(1)

    in_two_threads(work, work)
    assert len(empty) == 1
