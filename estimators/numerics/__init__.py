"""Small dense matrices for filters: covariances, linear solves, chi-square bounds.

Start with `covariance.pxd`.
"""
