"""Parts of lateness.py: rounds, loads, what is measured, and the bars."""
