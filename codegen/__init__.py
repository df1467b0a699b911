"""Mechanism description to equations to kernel text to a compiled, verified module. Offline
only.
"""
