"""Simple JBB: the middle tier of a wholesale company; each thread runs transactions for a warehouse of its own.

After SPECjbb2005, cut down as for the first paper: a company with warehouses, districts, stock, customers and orders.

Threads     a `TransactionManager` for each warehouse: new order, payment, delivery, order status, stock level
Shared      `Company`'s counters of threads that have begun and ended, each under a lock of its own; its tables, which
            are read only; and the `Customer`s, who belong to all warehouses (balance and counts under the customer's
            lock)
Own to one  `Warehouse`, its `District`s and `Stock`: reached by all through the company, locked on every access, and
            used by one thread each. The same holds for `Order`, `OrderLine`, `NewOrder` and `History`.
Immutable   `Item`; names, rates and ids; most fields of orders and their lines
Sizes       `warehouses` (threads), `transactions` of each, `lines` of an order, `districts`
bug=True    a payment changes the customer's balance without the customer's lock: one of two payments can get lost
"""

import threading

from dpor.workloads import run


class Item:
    def __init__(self, number, name, price):
        self.number = number
        self.name = name
        self.price = price


class Stock:
    def __init__(self, item):
        self.lock = threading.Lock()
        self.item = item
        self.quantity = 20
        self.ytd = 0
        self.order_count = 0

    def sell(self, quantity):
        with self.lock:
            self.quantity -= quantity
            if self.quantity < 10:
                self.quantity += 91
            self.ytd += quantity
            self.order_count += 1

    def is_below(self, threshold):
        with self.lock:
            return self.quantity < threshold


class OrderLine:
    def __init__(self, number, item, quantity, amount):
        self.lock = threading.Lock()
        self.number = number
        self.item = item
        self.quantity = quantity
        self.amount = amount
        self.delivered = None

    def deliver(self, date):
        with self.lock:
            self.delivered = date


class Order:
    def __init__(self, number, customer, lines):
        self.lock = threading.Lock()
        self.number = number
        self.customer = customer
        self.lines = lines
        self.carrier = None

    def total(self):
        with self.lock:
            return sum(line.amount for line in self.lines)

    def assign(self, carrier):
        with self.lock:
            self.carrier = carrier


class NewOrder:
    """An order that waits for its delivery."""

    def __init__(self, order):
        self.order = order


class History:
    def __init__(self, customer, amount):
        self.customer = customer
        self.amount = amount


class Customer:
    def __init__(self, number, name):
        self.lock = threading.Lock()
        self.number = number
        self.name = name
        self.discount = 5
        self.balance = 0
        self.payment_count = 0
        self.delivery_count = 0
        self.last_order = None

    def pay(self, amount):
        with self.lock:
            self.receive(amount)

    def receive(self, amount):
        self.balance += amount
        self.payment_count += 1

    def charge(self, amount):
        with self.lock:
            self.balance -= amount
            self.delivery_count += 1

    def add_order(self, order):
        with self.lock:
            self.last_order = order

    def latest_order(self):
        with self.lock:
            return self.last_order


class HastyCustomer(Customer):
    def pay(self, amount):
        self.receive(amount)


class District:
    def __init__(self, number):
        self.lock = threading.Lock()
        self.number = number
        self.tax_rate = 7
        self.next_order = 1
        self.ytd = 0
        self.orders = []
        self.new_orders = []

    def next_order_number(self):
        with self.lock:
            number = self.next_order
            self.next_order = number + 1
            return number

    def add(self, order):
        with self.lock:
            self.orders.append(order)
            self.new_orders.append(NewOrder(order))

    def oldest_new_order(self):
        with self.lock:
            return self.new_orders.pop(0) if self.new_orders else None

    def recent_orders(self):
        with self.lock:
            return self.orders[-20:]

    def receive_payment(self, amount):
        with self.lock:
            self.ytd += amount


class Warehouse:
    def __init__(self, number, items, districts):
        self.payment_lock = threading.Lock()
        self.history_lock = threading.Lock()
        self.number = number
        self.tax_rate = 3
        self.ytd = 0
        self.stock = [Stock(item) for item in items]
        self.districts = [District(i) for i in range(districts)]
        self.history = []

    def receive_payment(self, amount):
        with self.payment_lock:
            self.ytd += amount

    def remember(self, history):
        with self.history_lock:
            self.history.append(history)


class Company:
    def __init__(self, warehouses, districts, customer):
        self.items = [Item(i, f"item {i}", 10 + i) for i in range(3)]
        self.warehouses = [Warehouse(i, self.items, districts) for i in range(warehouses)]
        self.customers = [customer(i, f"customer {i}") for i in range(2)]
        self.begun_lock = threading.Lock()
        self.begun = 0
        self.ended_lock = threading.Lock()
        self.ended = 0

    def thread_begins(self):
        with self.begun_lock:
            self.begun += 1

    def thread_ends(self):
        with self.ended_lock:
            self.ended += 1


# ---------------------------------------------------------------------- transactions


class TransactionManager(threading.Thread):
    """Runs the transactions in turn, for one warehouse; its customer may also be another's."""

    def __init__(self, company, warehouse, transactions, lines):
        super().__init__(name=f"warehouse {warehouse.number}")
        self.company = company
        self.warehouse = warehouse
        self.transactions = transactions
        self.lines = lines

    def run(self):
        self.company.thread_begins()
        every = (self.new_order, self.payment, self.delivery, self.order_status, self.stock_level)
        for i in range(self.transactions):
            every[i % len(every)](self.warehouse.districts[i % len(self.warehouse.districts)])
        self.company.thread_ends()

    def customer(self):
        return self.company.customers[0]

    def new_order(self, district):
        customer = self.customer()
        lines = []
        for i in range(self.lines):
            item = self.company.items[i % len(self.company.items)]
            quantity = i + 1
            self.warehouse.stock[item.number].sell(quantity)
            lines.append(OrderLine(i, item, quantity, self.price(item, district, customer) * quantity))
        order = Order(district.next_order_number(), customer, lines)
        district.add(order)
        customer.add_order(order)

    def price(self, item, district, customer):
        taxes = 100 + self.warehouse.tax_rate + district.tax_rate
        return item.price * taxes * (100 - customer.discount) // 10_000

    def payment(self, district):
        amount = 100 + self.warehouse.number
        self.warehouse.receive_payment(amount)
        district.receive_payment(amount)
        self.customer().pay(amount)
        self.warehouse.remember(History(self.customer(), amount))

    def delivery(self, district):
        for each in self.warehouse.districts:
            new = each.oldest_new_order()
            if new is not None:
                new.order.assign(carrier=district.number)
                for line in new.order.lines:
                    line.deliver(date=1)
                new.order.customer.charge(new.order.total())

    def order_status(self, district):
        order = self.customer().latest_order()
        if order is not None:
            order.total()

    def stock_level(self, district):
        items = {line.item.number for order in district.recent_orders() for line in order.lines}
        return sum(self.warehouse.stock[number].is_below(15) for number in items)


def main(warehouses=2, transactions=3, lines=1, districts=1, bug=False):
    company = Company(warehouses, districts, HastyCustomer if bug else Customer)
    run(*[TransactionManager(company, each, transactions, lines) for each in company.warehouses])
    paid = sum(history.amount for warehouse in company.warehouses for history in warehouse.history)
    charged = sum(
        order.total()
        for warehouse in company.warehouses
        for district in warehouse.districts
        for order in district.orders
        if order.carrier is not None
    )
    balance = sum(customer.balance for customer in company.customers)
    assert balance == paid - charged, f"customers paid {paid} and were charged {charged}, but the balance is {balance}"
    assert (company.begun, company.ended) == (warehouses, warehouses)
    return balance
