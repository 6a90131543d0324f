"""Pages of HTML: one for each experiment, and an index of all claims."""
