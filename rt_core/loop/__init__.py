"""The loop: threads with absolute deadlines, one cycle of a task, the watchdog, and stepping offline.

Start with `loop.pyx`, then `task.pyx` and `cycle.pyx`.
"""
