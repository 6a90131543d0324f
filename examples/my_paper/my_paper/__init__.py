"""What a paper of one's own brings: a unit, a model, a task, a loss, a measure, a dataset, a kind of report."""
