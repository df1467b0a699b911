"""Time, order and safety of one cycle. Knows no mechanism, protocol or filter: it calls blocks."""
