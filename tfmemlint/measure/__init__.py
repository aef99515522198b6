"""Runs a program and says at which of its lines memory stood highest, and what was held there."""
