"""Daisy: a small file system in four layers; threads write and read files of one directory.

After Qadeer's challenge problem. From above: `Directory` (names), `Daisy` (files), `Disk` (inodes, blocks), `Petal`
(bytes).

Threads     each makes files in the root directory and unlinks them, writes to a file of its own and reads it back
Shared      `LockManager.mutexes`, made on demand under a check, a lock and a second check (inode `i` is lock `i`,
            block `b` `INODES + b`, the files' own locks come after); `Mutex.locked`, under the mutex's monitor; and
            `Petal`'s one buffer and cursor: to read a byte is to seek, then to read, so its methods are synchronized
Own to one  `Inode`: a copy in core, made while the inode's lock is held; lists of bytes
Immutable   `FileHandle`, `Mutex.number`, all references between the layers
Sizes       `threads`, `length` of what each writes, `files` that each makes besides and unlinks
bug=True    seek and read are two steps: another thread's seek in between has the byte read at a wrong place (the
            defect that the challenge was best known for)
"""

import threading

from dpor.workloads import run

INODES = 4
BLOCKS = 4
BLOCK_SIZE = 8
INODE_SIZE = 3  # block, size, used
NAME_SIZE = 2  # a name of one byte, the number of the inode

INODE_AREA = 0
FREE_AREA = INODE_AREA + INODES * INODE_SIZE
BLOCK_AREA = FREE_AREA + BLOCKS
DISK_SIZE = BLOCK_AREA + BLOCKS * BLOCK_SIZE


# ---------------------------------------------------------------------- locks


class Mutex:
    def __init__(self, number):
        self.number = number
        self.monitor = threading.Condition()
        self.locked = False

    def acquire(self):
        with self.monitor:
            while self.locked:
                self.monitor.wait()
            self.locked = True

    def release(self):
        with self.monitor:
            self.locked = False
            self.monitor.notify()


class LockManager:
    """As many mutexes as are asked for."""

    def __init__(self):
        self.growing = Mutex(-1)
        self.mutexes = []

    def acquire(self, number):
        if number >= len(self.mutexes):
            self.growing.acquire()
            while number >= len(self.mutexes):
                self.mutexes.append(Mutex(len(self.mutexes)))
            self.growing.release()
        self.mutexes[number].acquire()

    def release(self, number):
        self.mutexes[number].release()


# ---------------------------------------------------------------------- bytes


class Petal:
    """The store: a buffer with a cursor, as a file has it."""

    def __init__(self):
        self.lock = threading.RLock()
        self.buffer = [0] * DISK_SIZE
        self.cursor = 0

    def seek(self, place):
        with self.lock:
            self.cursor = place

    def next(self):
        with self.lock:
            byte = self.buffer[self.cursor]
            self.cursor += 1
            return byte

    def put(self, byte):
        with self.lock:
            self.buffer[self.cursor] = byte
            self.cursor += 1

    def read(self, place):
        with self.lock:
            self.seek(place)
            return self.next()

    def write(self, place, byte):
        with self.lock:
            self.seek(place)
            self.put(byte)


class HastyPetal(Petal):
    def read(self, place):
        self.seek(place)
        return self.next()


# ---------------------------------------------------------------------- inodes and blocks


class Inode:
    def __init__(self, number, block, size, used):
        self.number = number
        self.block = block
        self.size = size
        self.used = used


class Disk:
    """Where things are on the store. Callers hold the lock of what they name."""

    def __init__(self, petal):
        self.petal = petal

    def read_inode(self, number):
        at = INODE_AREA + number * INODE_SIZE
        return Inode(number, self.petal.read(at), self.petal.read(at + 1), self.petal.read(at + 2))

    def write_inode(self, inode):
        at = INODE_AREA + inode.number * INODE_SIZE
        self.petal.write(at, inode.block)
        self.petal.write(at + 1, inode.size)
        self.petal.write(at + 2, inode.used)

    def is_taken(self, block):
        return self.petal.read(FREE_AREA + block) == 1

    def take(self, block):
        self.petal.write(FREE_AREA + block, 1)

    def free(self, block):
        self.petal.write(FREE_AREA + block, 0)

    def read_byte(self, block, offset):
        return self.petal.read(BLOCK_AREA + block * BLOCK_SIZE + offset)

    def write_byte(self, block, offset, byte):
        self.petal.write(BLOCK_AREA + block * BLOCK_SIZE + offset, byte)


# ---------------------------------------------------------------------- files


class FileHandle:
    def __init__(self, inode_number):
        self.inode_number = inode_number


class DiskFull(Exception):
    pass


class Daisy:
    def __init__(self, disk):
        self.disk = disk
        self.locks = LockManager()

    def lock_file(self, handle):
        self.locks.acquire(INODES + BLOCKS + handle.inode_number)

    def unlock_file(self, handle):
        self.locks.release(INODES + BLOCKS + handle.inode_number)

    def get_inode(self, number):
        """With its lock held, until `put_inode`."""
        self.locks.acquire(number)
        return self.disk.read_inode(number)

    def put_inode(self, inode):
        self.locks.release(inode.number)

    def create(self):
        inode = self.allocate_inode()
        inode.block = self.allocate_block()
        self.disk.write_inode(inode)
        self.put_inode(inode)
        return FileHandle(inode.number)

    def allocate_inode(self):
        for number in range(INODES):
            inode = self.get_inode(number)
            if not inode.used:
                inode.used = 1
                return inode
            self.put_inode(inode)
        raise DiskFull("no inode is left")

    def allocate_block(self):
        for block in range(BLOCKS):
            self.locks.acquire(INODES + block)
            taken = self.disk.is_taken(block)
            if not taken:
                self.disk.take(block)
            self.locks.release(INODES + block)
            if not taken:
                return block
        raise DiskFull("no block is left")

    def delete(self, handle):
        inode = self.get_inode(handle.inode_number)
        self.locks.acquire(INODES + inode.block)
        self.disk.free(inode.block)
        self.locks.release(INODES + inode.block)
        inode.used = inode.size = 0
        self.disk.write_inode(inode)
        self.put_inode(inode)

    def read(self, handle, offset, length):
        inode = self.get_inode(handle.inode_number)
        self.locks.acquire(INODES + inode.block)
        found = [self.disk.read_byte(inode.block, i) for i in range(offset, min(offset + length, inode.size))]
        self.locks.release(INODES + inode.block)
        self.put_inode(inode)
        return found

    def write(self, handle, offset, content):
        inode = self.get_inode(handle.inode_number)
        self.locks.acquire(INODES + inode.block)
        for i, byte in enumerate(content):
            self.disk.write_byte(inode.block, offset + i, byte)
        self.locks.release(INODES + inode.block)
        if offset + len(content) > inode.size:
            inode.size = offset + len(content)
            self.disk.write_inode(inode)
        self.put_inode(inode)


class Directory:
    """A file of entries: the name, then the number of its inode."""

    def __init__(self, daisy, handle):
        self.daisy = daisy
        self.handle = handle

    def entries(self):
        content = self.daisy.read(self.handle, 0, BLOCK_SIZE)
        return [content[i : i + NAME_SIZE] for i in range(0, len(content), NAME_SIZE)]

    def create(self, name):
        self.daisy.lock_file(self.handle)
        entries = self.entries()
        handle = self.daisy.create()
        self.daisy.write(self.handle, NAME_SIZE * len(entries), [name, handle.inode_number])
        self.daisy.unlock_file(self.handle)
        return handle

    def unlink(self, name):
        self.daisy.lock_file(self.handle)
        for i, (known, number) in enumerate(self.entries()):
            if known == name:
                self.daisy.delete(FileHandle(number))
                self.daisy.write(self.handle, NAME_SIZE * i, [0, 0])
        self.daisy.unlock_file(self.handle)

    def names(self):
        return [name for name, _ in self.entries() if name]


# ---------------------------------------------------------------------- the driver


class Client(threading.Thread):
    def __init__(self, number, root, own, length, files):
        super().__init__(name=f"client {number}")
        self.number = number
        self.root = root
        self.own = own
        self.length = length
        self.files = files
        self.seen = None

    def run(self):
        for i in range(1, self.files + 1):
            self.root.create(10 * self.number + i)
            self.root.unlink(10 * self.number + i)
        self.root.daisy.write(self.own, 0, [self.number] * self.length)
        self.seen = self.root.daisy.read(self.own, 0, self.length)


def main(threads=2, length=1, files=0, bug=False):
    daisy = Daisy(Disk(HastyPetal() if bug else Petal()))
    root = Directory(daisy, daisy.create())
    clients = [Client(i, root, root.create(i), length, files) for i in range(1, threads + 1)]
    run(*clients)
    for client in clients:
        assert client.seen == [client.number] * length, f"{client.name} wrote {client.number}, but read {client.seen}"
    return root.names()
