"""What all tests stand on."""

import signal


def pytest_configure() -> None:
    # A shell has what it starts in the background ignore SIGINT, and children inherit that; the
    # tests of interrupts start programs as a terminal would.
    signal.signal(signal.SIGINT, signal.default_int_handler)
