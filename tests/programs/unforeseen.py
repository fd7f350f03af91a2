"""Programs that write a field in a way that an analysis of their source does not foresee. Each fails in a schedule in
which another thread reads it between."""

import threading


class Account:
    def __init__(self, balance):
        self.balance = balance
        self.limit = 10

    def check(self):
        """The limit looks immutable: nothing that can be seen in the source writes it."""
        first = self.limit
        second = self.limit
        assert first == second, "the limit changed in between"


def against(account, *changes):
    threads = [threading.Thread(target=account.check)]
    threads += [threading.Thread(target=change) for change in changes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def computed_name():
    account = Account(1)
    against(account, lambda: setattr(account, "lim" + "it", 20))


def through_dict():
    account = Account(1)

    def change():
        account.__dict__["li" + "mit"] = 20

    against(account, change)


def executed():
    account = Account(1)
    against(account, lambda: exec("account.limit = 20", {"account": account}))


def monkeypatched_method():
    account = Account(1)
    account.touch = lambda: None

    def harmless():
        account.touch()

    def writes():
        account.limit = 20

    setattr(account, "to" + "uch", writes)
    against(account, harmless)


def monkeypatched_class():
    account = Account(1)

    def harmless(self):
        pass

    def writes(self):
        self.limit = 20

    Account.touch = harmless
    setattr(Account, "to" + "uch", writes)
    against(account, lambda: account.touch())


def called_back():
    """`sorted` calls it, through a function that is found by name only."""
    account = Account(1)

    class Key:
        def __init__(self, n):
            self.n = n

        def __lt__(self, other):
            setattr(account, "".join(["lim", "it"]), 20)
            return self.n < other.n

    against(account, lambda: sorted([Key(2), Key(1)]))


def subclass_made_at_run_time():
    account = type("Special", (Account,), {"grow": lambda self: self.__setattr__("limit", 20)})(1)
    against(account, lambda: getattr(account, "gr" + "ow")())
