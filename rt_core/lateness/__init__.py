"""Causes of late cycles, the policy on overruns, traces and histograms.

Start with `cause.pxd`.
"""
