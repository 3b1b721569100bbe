"""What corrections teach: lessons, kept as far as their words go, used where their slots fit, and told when used.

After DROC (Distilling and Retrieving Generalizable Knowledge for Robot Manipulation via Language Corrections,
arXiv:2311.10678); unlike there a lesson is kept only once it has worked, and never reaches another kind of thing.
"""

from __future__ import annotations
