# nothing for Python: what a table is mapped with
