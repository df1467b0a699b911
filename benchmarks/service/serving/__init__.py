"""Parts of service.py: a service that was started for it, what it is asked for, its accelerated soak, its restarts.

Start with `served.py`.
"""
