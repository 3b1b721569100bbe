"""Linear temporal logic on finite traces: formulas, automata, decision procedures and monitors."""

from __future__ import annotations
