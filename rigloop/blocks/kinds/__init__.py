"""One module for each kind of block: its `KIND`, and beside it the compiled step where it has one of its own.

Start with `relay.py`. A file here needs no entry anywhere else.
"""
