"""Everybody on board. `parts` is a folder of it without a file of this name."""

VERSION = 3
