"""From a mechanism file, or the builder, to one validated `System` of equations."""
