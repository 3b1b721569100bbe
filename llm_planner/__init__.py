"""Command and correct a robot in plain language, and prove what it will and will not do."""

__version__ = "0.2.0"
