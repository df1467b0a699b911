"""The door to the network, for pages and for viewers: who may come in, and a websocket served in turns.

Begin with `gate.py`.
"""
