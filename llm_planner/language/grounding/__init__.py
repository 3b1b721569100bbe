"""What the words of a result come to in a scene: names, amounts, formulas and programs."""

from __future__ import annotations
