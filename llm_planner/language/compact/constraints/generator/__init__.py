"""Draws lifted sentences with the specifications that they stand for."""
