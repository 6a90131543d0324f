"""From stored runs to the facts that a report is made of."""
