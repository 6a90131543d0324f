"""A table as data: our numbers with their intervals, the printed ones, verdicts and notes. Nothing here is text yet."""
