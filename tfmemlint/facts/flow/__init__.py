"""How values travel, what they are, and how often code runs."""
