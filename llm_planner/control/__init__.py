"""From the motion a skill wants to joint commands that never break a limit."""
