"""Files of foreign loggers become tables of numbers; what cannot be read is listed with its row.

Start with `read.py`, which knows a format by its first bytes; `table.py` is what every format gives.
"""
