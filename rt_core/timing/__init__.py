"""The times that cycles take: rehearsed without threads, and put together on the cores of a machine.

Start with `response.py`, the analysis; `rehearse.pyx` steps a plan and times each of its blocks.
"""
