"""Quirks of states, watchdogs and power: slow or refused transitions, latched watchdogs, dead processors.

Start with `slow_transition.pyx`.
"""
