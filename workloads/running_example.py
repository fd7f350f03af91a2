"""Running example: two workers add employees to a company and look through the list meanwhile.

After Figure 1 of Parizek and Lhotak, "Model checking of concurrent programs with static analysis of field accesses".

Threads     `FirstWorker` and `SecondWorker`; main waits for both
Shared      `Company.employees`, a list that both append to and iterate over, and `Employee.salary`, with no lock
Immutable   `Employee.name`, `.index`, `Company.employees`. Not a worker's `company`: the thread object escapes in the
            constructor of its super class before the field is written.

No bug: nothing is asserted; two employees can get the same index.
"""

import threading

from dpor.workloads import run


class Employee:
    def __init__(self, name, salary):
        self.name = name
        self.salary = salary
        self.index = None


class Company:
    def __init__(self):
        self.employees = []

    def add(self, name, salary):
        self.add_employee(Employee(name, salary))

    def add_employee(self, employee):
        employee.index = len(self.employees)
        self.employees.append(employee)

    def print(self):
        return [f"{e.index}:{e.name}" for e in self.employees]

    def set_salary(self, index, salary):
        for e in self.employees:
            if e.index == index:
                e.salary = salary

    def get_salary(self, name):
        for e in self.employees:
            if e.name == name:
                return e.salary
        return None


class FirstWorker(threading.Thread):
    def __init__(self, company):
        super().__init__()
        self.company = company

    def run(self):
        self.company.add("david", 115)
        self.company.print()
        self.company.get_salary("john")
        self.company.set_salary(1, 150)
        self.company.print()


class SecondWorker(threading.Thread):
    def __init__(self, company):
        super().__init__()
        self.company = company

    def run(self):
        self.company.get_salary("paul")
        self.company.add("mark", 80)
        self.company.print()


def main():
    company = Company()
    company.add("john", 100)
    company.add_employee(Employee("paul", 120))
    run(FirstWorker(company), SecondWorker(company))
