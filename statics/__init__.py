"""Facts about a program's source, for searches that drop choices. Nothing is here yet; it will never import `dpor`."""
