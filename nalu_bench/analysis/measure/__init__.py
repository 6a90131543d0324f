"""Facts of stored runs, from which reports are made."""
