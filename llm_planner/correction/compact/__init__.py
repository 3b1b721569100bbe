"""The compact model of corrections: a small network that reads what the rules have no reading of, offline."""
