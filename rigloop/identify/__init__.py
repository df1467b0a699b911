"""`rigloop identify`: inertia and friction of a rotor from a log, and observed beside measured torque.

Start with `identify.py`.
"""
