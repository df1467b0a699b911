"""The steps of the walk, one idea a module.

How to add one: a module with a `STEP`, whose `place` says where in the walk it comes; it is found by its place here.
"""
