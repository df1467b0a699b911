"""What a rig is: its schema, and the rigs, mechanisms and log mappings that ship."""
