"""Privileges: what each source of commands may do, according to an operator's file (Progent, arXiv:2504.11703)."""

from __future__ import annotations
