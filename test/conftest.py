"""What all tests share: an interrupt means the same however the tests were started."""

from __future__ import annotations

import signal

# A shell that starts us in the background has us and our children ignore SIGINT; the tests send it on purpose.
signal.signal(signal.SIGINT, signal.default_int_handler)
