"""Rules of our own for tfmemlint."""
