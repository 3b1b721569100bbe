"""The nodes, one a module.

A supervisor blocks SIGINT until here (`ros.processes`). From here to `base_node.run_node` it ends the process at once.
"""

from __future__ import annotations

import signal

if signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()):
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT,))
