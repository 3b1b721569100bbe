"""Embedded model: a small pretrained network that reads commands, rules and corrections in process."""
