"""From a mechanism to a compiled, verified kernel. Offline only."""
