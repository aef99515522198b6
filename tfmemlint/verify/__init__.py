"""Runs a rule's two programs from outside, weighs them, and holds the rule to its claim."""
