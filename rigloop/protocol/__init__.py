"""The protocol of a service: its messages and their limits, and a client that speaks it.

Start with `requests.py`; `docs/service.md` is the page for people. The service itself is `rigloop/service`.
"""
