"""What a safe fix may rely on: nothing here is assumed, and what is not known is not sure."""
