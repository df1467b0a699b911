"""Published tests of a whole rig, as commands: `rigloop bench ...`; one module or more for each."""
"""Benchmarks of published methods, as commands: what the papers print, and what comes out here."""
