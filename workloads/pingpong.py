"""Pingpong: players hit the ball through a table that names the player whose turn it is; one goes home meanwhile.

After the bug benchmark of that name, of those that Huang and Huang use (see `counter`).

Shared      `Table.player`, under `Table.lock`; `Player.hits`
Sizes       `threads` that play; `hits` of each
bug=True    no lock is held between the look whether there is a player and the hit: the player is None by then
            (check-then-act; in Java, an exception for a null reference)
"""

import threading

from dpor.workloads import run


class Player:
    def __init__(self):
        self.hits = 0

    def hit(self):
        self.hits += 1


class Table:
    def __init__(self):
        self.lock = threading.Lock()
        self.player = Player()

    def play(self):
        with self.lock:
            self.hit()

    def hit(self):
        if self.player is not None:
            self.player.hit()

    def go_home(self):
        with self.lock:
            self.player = None


class HastyTable(Table):
    def play(self):
        self.hit()


def main(threads=2, hits=1, bug=False):
    table = HastyTable() if bug else Table()

    def play():
        for _ in range(hits):
            table.play()

    players = [threading.Thread(target=play, name=f"player {i}") for i in range(1, threads + 1)]
    run(*players, threading.Thread(target=table.go_home, name="who goes home"))
