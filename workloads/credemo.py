"""CRE Demo: wireless internet at an airport; two clients get addresses, log in by different tickets and leave.

After the demo application of the Component Reliability Extension. Components are wired once by `main`; then each
client's thread walks through the same components from the listener down.

Threads     `first_client`: two machines, one on a prepaid account, one of a frequent flyer; `second_client`: one
            machine on a fly ticket, which logs out
Shared      all components. `IpAddressManager`'s free and assigned addresses under its lock, `TransientIpDb`'s three
            maps under another (taken inside the first), `Accounts.next_token` under a third. With no lock, as in the
            original: `Arbitrator`'s two maps, `Firewall`'s set, `Account.prepaid`
Own to one  `Token`, `ValidityChecker` and `Timer`: made by one thread, registered in the maps, used by that thread
Immutable   every reference from component to component, tickets, `Token.number`
Sizes       `clients`: 2 is the original's pair, more repeat the second
bug=True    an address is chosen under the lock and taken off the free ones under it, but not in one go: two clients
            can get the same address (check-then-act)
"""

import threading

from dpor.workloads import run

# ---------------------------------------------------------------------- addresses


class TransientIpDb:
    def __init__(self):
        self.lock = threading.Lock()
        self.mac_of = {}
        self.ip_of = {}
        self.expires = {}

    def add(self, mac, ip, expires):
        with self.lock:
            self.mac_of[ip] = mac
            self.ip_of[mac] = ip
            self.expires[ip] = expires

    def remove(self, ip):
        with self.lock:
            mac = self.mac_of.pop(ip)
            del self.ip_of[mac]
            del self.expires[ip]

    def prolong(self, ip, expires):
        with self.lock:
            self.expires[ip] = expires

    def expired(self, ip, now):
        with self.lock:
            return self.expires[ip] < now


class Timer:
    """Runs out at once: time has passed whenever somebody asks."""

    def __init__(self, callback):
        self.callback = callback

    def set(self, now):
        self.callback(now)


class IpAddressManager:
    LEASE = 100

    def __init__(self, addresses, database):
        self.lock = threading.RLock()
        self.available = list(addresses)
        self.assigned = []
        self.database = database
        self.arbitrator = None
        self.timer = Timer(self.on_timeout)

    def request(self, mac):
        with self.lock:
            ip = self.choose()
            self.assign(ip, mac)
        return ip

    def choose(self):
        return self.available[0]

    def assign(self, ip, mac):
        if ip in self.available:
            self.available.remove(ip)
        self.assigned.append(ip)
        self.database.add(mac, ip, self.LEASE)
        self.timer.set(now=1)

    def renew(self, ip):
        with self.lock:
            if ip in self.assigned:
                self.database.prolong(ip, 2 * self.LEASE)
                self.timer.set(now=2)

    def release(self, ip):
        with self.lock:
            if ip in self.assigned:
                self.assigned.remove(ip)
                self.available.append(ip)
                self.database.remove(ip)
        self.arbitrator.address_is_invalid(ip)

    def on_timeout(self, now):
        with self.lock:
            for ip in list(self.assigned):
                if self.database.expired(ip, now):
                    self.release(ip)


class HastyIpAddressManager(IpAddressManager):
    def request(self, mac):
        with self.lock:
            ip = self.choose()
        with self.lock:
            self.assign(ip, mac)
        return ip


class DhcpListener:
    def __init__(self, manager):
        self.manager = manager

    def request_ip(self, mac):
        return self.manager.request(mac)

    def renew_ip(self, ip):
        self.manager.renew(ip)

    def release_ip(self, ip):
        self.manager.release(ip)


# ---------------------------------------------------------------------- tokens and accounts


class ValidityChecker:
    """How long a token is good for: counts down, and tells the token."""

    def __init__(self, token):
        self.token = token
        self.evidence = None
        self.valid_until = None

    def start(self, evidence, valid_until):
        self.evidence = evidence
        self.valid_until = valid_until

    def check(self, now):
        return now <= self.valid_until


class Token:
    def __init__(self, number, account):
        self.number = number
        self.account = account
        self.checker = ValidityChecker(self)

    def invalidate(self):
        self.checker.start(evidence=None, valid_until=0)
        if self.account is not None:
            self.account.stop_using()


class Account:
    def __init__(self, number, password):
        self.number = number
        self.password = password
        self.prepaid = 30

    def recharge(self, minutes):
        self.prepaid = self.prepaid + minutes

    def stop_using(self):
        self.prepaid = self.prepaid - 10


class CardCenter:
    def withdraw(self, card, amount):
        return card > 0 and amount > 0


class Accounts:
    """The prepaid accounts, and the factory of tokens."""

    def __init__(self, card_center):
        self.card_center = card_center
        self.rows = {number: Account(number, f"secret {number}") for number in (1005, 1006)}
        self.token_lock = threading.Lock()
        self.next_token = 0

    def new_token(self, account=None):
        with self.token_lock:
            self.next_token += 1
            number = self.next_token
        return Token(number, account)

    def log_in(self, number, password):
        account = self.rows[number]
        if account.password != password or account.prepaid <= 0:
            return None
        token = self.new_token(account)
        token.checker.start(evidence=number, valid_until=account.prepaid)
        return token

    def recharge(self, number, card, minutes):
        if self.card_center.withdraw(card, minutes):
            self.rows[number].recharge(minutes)


class Ticket:
    def __init__(self, number, valid_until):
        self.number = number
        self.valid_until = valid_until


class Airline:
    def __init__(self, prefix, tickets):
        self.prefix = prefix
        self.tickets = tickets

    def find(self, number):
        for ticket in self.tickets:
            if ticket.number == number:
                return ticket
        return None


class FlyTicketClassifier:
    def __init__(self, airlines):
        self.airlines = airlines

    def find(self, number):
        for airline in self.airlines:
            if number.startswith(airline.prefix):
                return airline.find(number)
        return None


# ---------------------------------------------------------------------- who may use the network


class Firewall:
    def __init__(self):
        self.open = set()

    def enable(self, ip):
        self.open.add(ip)

    def disable(self, ip):
        self.open.discard(ip)


class Arbitrator:
    def __init__(self, firewall, accounts, frequent_flyers, tickets):
        self.firewall = firewall
        self.accounts = accounts
        self.frequent_flyers = frequent_flyers
        self.tickets = tickets
        self.address_of = {}
        self.token_at = {}

    def log_in_with_account(self, ip, number, password):
        return self.let_in(ip, self.accounts.log_in(number, password))

    def log_in_as_frequent_flyer(self, ip, number):
        return self.let_in(ip, self.token_for(self.frequent_flyers.find(number)))

    def log_in_with_ticket(self, ip, number):
        return self.let_in(ip, self.token_for(self.tickets.find(number)))

    def token_for(self, ticket):
        if ticket is None:
            return None
        token = self.accounts.new_token()
        token.checker.start(evidence=ticket.number, valid_until=ticket.valid_until)
        return token

    def let_in(self, ip, token):
        if token is None or not token.checker.check(now=1):
            return False
        self.address_of[token.number] = ip
        self.token_at[ip] = token
        self.firewall.enable(ip)
        return True

    def log_out(self, ip):
        self.address_is_invalid(ip)

    def address_is_invalid(self, ip):
        token = self.token_at.pop(ip, None)
        if token is not None:
            del self.address_of[token.number]
            self.firewall.disable(ip)
            token.invalidate()


# ---------------------------------------------------------------------- the airport


class Airport:
    def __init__(self, manager_class):
        accounts = Accounts(CardCenter())
        airlines = [
            Airline("AF", [Ticket("AF 1", 20), Ticket("AF 2", 30)]),
            Airline("CSA", [Ticket("CSA 1", 20), Ticket("CSA 2", 30)]),
        ]
        flyers = Airline("FF", [Ticket("FF 1", 1_000)])
        self.arbitrator = Arbitrator(Firewall(), accounts, flyers, FlyTicketClassifier(airlines))
        self.manager = manager_class([f"10.0.0.{i}" for i in range(1, 6)], TransientIpDb())
        self.manager.arbitrator = self.arbitrator
        self.listener = DhcpListener(self.manager)

    def first_client(self):
        first = self.listener.request_ip("mac 1")
        self.arbitrator.log_in_with_account(first, 1005, "secret 1005")
        self.arbitrator.accounts.recharge(1005, card=7, minutes=60)
        second = self.listener.request_ip("mac 2")
        self.arbitrator.log_in_as_frequent_flyer(second, "FF 1")
        self.listener.renew_ip(first)
        self.listener.release_ip(second)

    def second_client(self, mac):
        ip = self.listener.request_ip(mac)
        self.arbitrator.log_in_with_ticket(ip, "CSA 2")
        self.arbitrator.log_out(ip)


def main(clients=2, bug=False):
    airport = Airport(HastyIpAddressManager if bug else IpAddressManager)
    later = [
        threading.Thread(target=airport.second_client, args=(f"mac {i}",), name=f"client {i}")
        for i in range(3, clients + 2)
    ]
    run(threading.Thread(target=airport.first_client, name="client 1"), *later)
    assigned = airport.manager.assigned
    assert len(set(assigned)) == len(assigned), f"an address was given out twice: {assigned}"
    return sorted(assigned), sorted(airport.arbitrator.firewall.open), airport.arbitrator.accounts.rows[1005].prepaid
