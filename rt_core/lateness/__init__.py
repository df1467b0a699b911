"""Why a cycle was late: causes, policy, traces and histograms.

Start with `cause.pxd`.
"""
