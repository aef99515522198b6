"""`python -m tfmemlint`."""

import sys

if not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
    # `-m` has put the working directory here: what is linted is never imported in place of what
    # lints it.
    del sys.path[0]

from tfmemlint.cli import main

sys.exit(main())
