"""EtherCAT Slave Information: the XML files by which vendors describe their slaves (ETG.2000)."""
