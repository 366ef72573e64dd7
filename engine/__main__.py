"""``python -m engine …``"""

import sys

from engine.cli import main
from engine.piping import until_nobody_reads

if __name__ == "__main__":
    sys.exit(until_nobody_reads(lambda: main(sys.argv[1:])))
