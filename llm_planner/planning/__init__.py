"""Planning: from a command to a rehearsed and permitted plan, its repair, and its execution in one process."""

from __future__ import annotations
