"""Lessons from corrections: limited to what the person's words say, used where slots fit, and announced when used.

After DROC (Distilling and Retrieving Generalizable Knowledge for Robot Manipulation via Language Corrections,
arXiv:2311.10678). Unlike there, a lesson is kept only once it has worked, and never transfers to other kinds of object.
"""
