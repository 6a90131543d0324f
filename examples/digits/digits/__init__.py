"""The sum of digits that are seen one after the other: a task with rows of fixed data, and a recurrent CNN."""
