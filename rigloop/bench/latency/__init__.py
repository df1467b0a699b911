"""`rigloop bench latency`: from each sign change of the encoder to the torque, as a distribution.

Start with `latency.py`.
"""
