"""CoCoME: a supermarket's trading system; each cash desk is a thread that sells goods by credit card.

After the Common Component Modelling Example, in the shape in which it is usually model checked: every component is an
object, components are wired once by `main`, and each call runs from a controller over the desk's own bus to the
desk's application and from there to the shared side.

Threads     one `Customer` for each desk: starts a sale, has goods scanned, ends the sale, pays by card
Own to one  of each desk: `Scanner`, `CashBox`, `CardReader`, `Display`, `CashDeskBus`, `CashDeskApplication` with all
            the state of a sale (`state`, `products`, `total`, `card`). Main reaches them too, so an analysis that
            asks what can be reached by two threads sees no difference between them and what is shared.
Shared      `Bank`, `StoreLogic` and `Store`, which nobody writes once the desks are open; `CashDeskLine`; and
            `Coordinator.sales`, the one place where the desks really meet, under the one lock
Immutable   the data transfer objects (`Product`, `StockItem`, `ProductOffer`, `Debit`, `Sale`) and the events
Sizes       `desks`, `sales` for each desk, `items` for each sale
bug=True    the coordinator works out which sales are recent before it takes the lock, and stores the list under it: a
            sale that another desk has registered in between is lost
"""

import threading
from enum import Enum

from dpor.workloads import run


class State(Enum):
    READY = "ready"
    SALE_STARTED = "sale started"
    SALE_FINISHED = "sale finished"
    PAYING_BY_CARD = "paying by card"
    CARD_SCANNED = "card scanned"


class PaymentMode(Enum):
    CASH = "cash"
    CREDIT_CARD = "credit card"


# ---------------------------------------------------------------------- data transfer objects and events


class Product:
    def __init__(self, barcode, name, price):
        self.barcode = barcode
        self.name = name
        self.price = price


class StockItem:
    def __init__(self, product, sales_price, amount):
        self.product = product
        self.sales_price = sales_price
        self.amount = amount


class ProductOffer:
    """What the store tells a desk about a product."""

    def __init__(self, barcode, name, price):
        self.barcode = barcode
        self.name = name
        self.price = price


class Debit:
    def __init__(self, accepted, transaction):
        self.accepted = accepted
        self.transaction = transaction


class Sale:
    def __init__(self, desk, items, mode):
        self.desk = desk
        self.items = items
        self.mode = mode


class SaleStarted:
    pass


class BarcodeScanned:
    def __init__(self, barcode):
        self.barcode = barcode


class SaleFinished:
    pass


class PaymentModeChosen:
    def __init__(self, mode):
        self.mode = mode


class CardScanned:
    def __init__(self, card):
        self.card = card


class PinEntered:
    def __init__(self, pin):
        self.pin = pin


# ---------------------------------------------------------------------- what all desks use


class Bank:
    """Stateless."""

    def validate(self, card, pin):
        return Debit(accepted=pin == card % 10_000, transaction=card + pin)

    def debit(self, transaction, amount):
        return transaction > 0 and amount >= 0


class Store:
    """Filled when it opens, then only read."""

    def __init__(self):
        self.products = [Product(777 + i, f"product {i}", 10 * (i + 1)) for i in range(5)]
        self.stock = [StockItem(product, product.price + 5, amount=50) for product in self.products]

    def item(self, barcode):
        for item in self.stock:
            if item.product.barcode == barcode:
                return item
        raise LookupError(f"no product has the barcode {barcode}")


class StoreLogic:
    def __init__(self, store_id, store):
        self.store_id = store_id
        self.store = store

    def offer(self, barcode):
        item = self.store.item(barcode)
        return ProductOffer(barcode, item.product.name, item.sales_price)


class Coordinator:
    """Keeps the recent sales; if half of them are small and paid in cash, a desk becomes an express desk."""

    WINDOW = 50
    EXPRESS_ITEMS = 8

    def __init__(self):
        self.lock = threading.Lock()
        self.sales = []

    def register(self, sale, line):
        with self.lock:
            self.store([*self.recent(), sale])
            express = self.wants_express_desk()
        if express:
            line.enable_express_mode()

    def recent(self):
        return self.sales[-self.WINDOW + 1 :]

    def store(self, sales):
        self.sales[:] = sales

    def wants_express_desk(self):
        express = [sale for sale in self.sales if sale.mode is PaymentMode.CASH and sale.items <= self.EXPRESS_ITEMS]
        return 2 * len(express) > len(self.sales)


class HastyCoordinator(Coordinator):
    def register(self, sale, line):
        recent = self.recent()
        with self.lock:
            self.store([*recent, sale])
            express = self.wants_express_desk()
        if express:
            line.enable_express_mode()


class CashDeskLine:
    """The bus between the desks and what they share; one of them can become the express desk."""

    def __init__(self, store, bank, coordinator):
        self.store = store
        self.bank = bank
        self.coordinator = coordinator
        self.express_desk = None

    def bind(self, desk):
        if self.express_desk is None:
            self.express_desk = desk

    def register(self, sale):
        self.coordinator.register(sale, self)

    def enable_express_mode(self):
        self.express_desk.application.express_mode = True


# ---------------------------------------------------------------------- one desk


class CashDeskApplication:
    """The state machine of a sale: each event is for one state, and ignored in the others."""

    def __init__(self, name, line):
        self.name = name
        self.line = line
        self.state = State.READY
        self.express_mode = False
        self.products = []
        self.total = 0
        self.card = None
        self.transaction = None

    def on(self, event):
        match event:
            case SaleStarted():
                if self.state is State.READY:
                    self.reset()
                    self.state = State.SALE_STARTED
            case BarcodeScanned():
                if self.state is State.SALE_STARTED:
                    offer = self.line.store.offer(event.barcode)
                    self.products.append(offer)
                    self.total += offer.price
            case SaleFinished():
                if self.state is State.SALE_STARTED:
                    self.state = State.SALE_FINISHED
            case PaymentModeChosen():
                by_card = event.mode is PaymentMode.CREDIT_CARD and not self.express_mode
                if self.state is State.SALE_FINISHED and by_card:
                    self.state = State.PAYING_BY_CARD
            case CardScanned():
                if self.state is State.PAYING_BY_CARD:
                    self.card = event.card
                    self.state = State.CARD_SCANNED
            case PinEntered():
                if self.state is State.CARD_SCANNED:
                    self.pay(event.pin)

    def reset(self):
        self.products = []
        self.total = 0
        self.card = None

    def pay(self, pin):
        debit = self.line.bank.validate(self.card, pin)
        if debit.accepted and self.line.bank.debit(debit.transaction, self.total):
            self.transaction = debit.transaction
            self.line.register(Sale(self.name, len(self.products), PaymentMode.CREDIT_CARD))
            self.state = State.READY


class Display:
    def __init__(self):
        self.last_event = None

    def on(self, event):
        self.last_event = event


class CashDeskBus:
    """Brings every event of a desk to its parts."""

    def __init__(self):
        self.display = None
        self.application = None

    def bind(self, display, application):
        self.display = display
        self.application = application

    def send(self, event):
        self.display.on(event)
        self.application.on(event)


class Scanner:
    def __init__(self, bus):
        self.bus = bus

    def scan(self, barcode):
        self.bus.send(BarcodeScanned(barcode))


class CashBox:
    def __init__(self, bus):
        self.bus = bus

    def start_sale(self):
        self.bus.send(SaleStarted())

    def finish_sale(self):
        self.bus.send(SaleFinished())

    def choose(self, mode):
        self.bus.send(PaymentModeChosen(mode))


class CardReader:
    def __init__(self, bus):
        self.bus = bus

    def scan(self, card):
        self.bus.send(CardScanned(card))

    def enter(self, pin):
        self.bus.send(PinEntered(pin))


class CashDesk:
    def __init__(self, name, line):
        self.bus = CashDeskBus()
        self.application = CashDeskApplication(name, line)
        self.scanner = Scanner(self.bus)
        self.cash_box = CashBox(self.bus)
        self.card_reader = CardReader(self.bus)
        self.bus.bind(Display(), self.application)
        line.bind(self)


class Customer(threading.Thread):
    """Use case 1: the process of a sale."""

    CARD = 990_1234

    def __init__(self, desk, sales, items):
        super().__init__(name=f"customer of {desk.application.name}")
        self.desk = desk
        self.sales = sales
        self.items = items

    def run(self):
        for _ in range(self.sales):
            self.desk.cash_box.start_sale()
            for i in range(self.items):
                self.desk.scanner.scan(777 + i)
            self.desk.cash_box.finish_sale()
            self.desk.cash_box.choose(PaymentMode.CREDIT_CARD)
            self.desk.card_reader.scan(self.CARD)
            self.desk.card_reader.enter(self.CARD % 10_000)


def main(desks=2, sales=1, items=2, bug=False):
    coordinator = HastyCoordinator() if bug else Coordinator()
    line = CashDeskLine(StoreLogic(1, Store()), Bank(), coordinator)
    opened = [CashDesk(f"desk {i}", line) for i in range(desks)]
    run(*[Customer(desk, sales, items) for desk in opened])
    registered = [sale.desk for sale in coordinator.sales]
    assert len(registered) == desks * sales, f"{desks * sales} sales, but {len(registered)} are registered"
    return registered
