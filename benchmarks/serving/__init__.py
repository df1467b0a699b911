"""Parts of service.py: a service that was started for it, what it is asked for, and its accelerated soak.

Start with `served.py`.
"""
