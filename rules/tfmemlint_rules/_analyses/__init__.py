"""What only one rule wants to know, beside the rules."""
