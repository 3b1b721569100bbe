"""Command and correct a robot in plain language, and prove what it will and will not do."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # of numpy, whose threads wait for each other where cores are busy

__version__ = "0.2.0"
