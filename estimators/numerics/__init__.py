"""Small dense matrices for filters: covariances, gates, estimates, linear solves, chi-square bounds.

Start with `covariance.pxd`; `estimate.pxd` is what a small filter needs of it.
"""
