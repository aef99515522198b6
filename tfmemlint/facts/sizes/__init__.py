"""How much things hold: in the names of the code, and in bytes where that is known."""
