"""Numbers and the digits that tell them apart: the site counts digits in two languages, and both are tried on these."""

from __future__ import annotations

import numpy as np

Case = tuple[float, tuple[float, float] | None, int, list[float], int]

SHOWN: list[Case] = [
    (2.34, (2.1, 2.6), 1, [2.0], 1),
    (2.04, (2.0, 2.1), 1, [2.0], 2),  # over the line, not on it
    (1.96, (1.9, 2.1), 1, [2.0], 2),
    (2.0, (1.9, 2.1), 1, [2.0], 1),  # on it
    (2.6, (2.004, 3.1), 1, [2.0], 3),
    (1.68, (1.64, 1.72), 1, [], 1),
    (1.7, (1.68, 1.72), 1, [], 2),  # not "1.7 to 1.7"
    (2.951, (2.5, 3.4), 1, [2.96], 2),  # 3.0 would read as over 2.96
    (21.3, None, 0, [21.37, 2.0], 0),
    (21.4, None, 0, [21.37, 2.0], 1),
    (58.60001, None, 0, [58.6], 0),  # 59 is over it, as it should be
    (58.60001, (58.56, 58.64), 0, [58.6], 5),  # with digits for the range, 58.60 would not be
    (2.5, None, 0, [2.5], 1),
    (float(np.float32(2.1)), None, 0, [2.1], 1),  # as 32 bits have it
    (12_345.4, (12_345.1, 12_345.3), 0, [], 1),
    (0.00012, (0.0001, 0.00014), 1, [], 5),
    (0.0, (0.0, 60.0), 0, [2.0], 0),
    (5.0, (5.0, 5.0), 0, [], 0),  # exact
]
"""Value, its range, the usual digits, the lines beside it, and the digits that are shown."""
