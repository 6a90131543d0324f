"""Code that one paper's tables, figures and claims need. It is loaded by name, and nothing imports it."""
