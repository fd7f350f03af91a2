"""Scenarios that write themselves: from a class and its operations, what threads do with an object of it.

operations   what may be called, with which arguments
sizes        the scenarios of each size, alike ones once
answers      what calls answer one after another, in every order: what concurrent calls may answer
recording    the calls of a run, where other judges than linearizability are asked
driver       carries out a scenario; the only module here that is a part of the program
explore      one scenario, under every interleaving
shrink       the smallest scenario that fails
source       a scenario as the source of a test
result       what was found, and what was covered; in words and as JSON
concurrent   all of it, one size after another: `dpor.concurrent`
"""
