# nothing for Python: the cycle is C
