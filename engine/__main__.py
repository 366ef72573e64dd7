"""``python -m engine …``"""

import gc
import sys

gc.set_threshold(20_000)  # as on the site: looking for garbage again and again was a tenth of a short study's work

from engine.cli import main  # noqa: E402  (most of that work is importing)
from engine.piping import until_nobody_reads  # noqa: E402

if __name__ == "__main__":
    sys.exit(until_nobody_reads(lambda: main(sys.argv[1:])))
