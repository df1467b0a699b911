"""EtherCAT Slave Information: the XML files by which vendors describe their slaves (ETG.2000).

Start with `library.py`, which finds the file of a device; `document.py` reads one, `write.py` writes one.
"""
