"""Kalman filters whose state is extended by unknown forces: any model, one stage.

Start with `ekf.pyx`.
"""
