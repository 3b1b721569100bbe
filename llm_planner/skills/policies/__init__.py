"""Learned policies: a velocity network over chunks of actions, how it is trained, and what wraps it. Knows no robot."""
