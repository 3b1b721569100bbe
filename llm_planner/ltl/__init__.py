"""Linear temporal logic on finite traces: formulas, automata, decisions about them, and monitors."""

from __future__ import annotations
