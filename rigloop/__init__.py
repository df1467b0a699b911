"""The application: command line, composition root, reports.

Start with `cli.py`; a live run is `live/supervise.py`, what it runs is put together in `compose/blocks.py`.
"""
