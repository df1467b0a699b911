"""Benchmarks of published methods, as commands: what the papers print, and what comes out here."""
