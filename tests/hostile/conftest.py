"""What the tests of the service share with those that attack it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "service"))
