"""What is Python: nodes, names and what they are bound to, functions and classes, other files."""
