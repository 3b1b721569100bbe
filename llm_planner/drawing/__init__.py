"""Automata as pictures: what the edges say, where the states go, and the SVG that shows it."""
