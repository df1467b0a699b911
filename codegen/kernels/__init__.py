"""A kernel from its mechanism: generated, compiled, checked and kept in the user's cache.

Start with `build.py`; `verify.py` proves each kernel before it is handed out, `cache.py` keeps it.
"""
