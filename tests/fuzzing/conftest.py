"""The modules here are run as scripts, too, and import each other by their own names."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
