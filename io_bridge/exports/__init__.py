"""Recorded signals in the formats of other programs: CSV, Parquet, MDF4, MCAP, HDF5, MATLAB.

Start with `write.py`; `measured.py` is what is written.
"""
