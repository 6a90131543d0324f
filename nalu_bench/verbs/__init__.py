"""The verbs of the command line: each module adds one."""
