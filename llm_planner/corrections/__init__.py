"""Corrections: read what a person says while the robot works, and edit the running plan after checks."""
