"""Skills that a policy server moves: what is said to it, how long it is waited for, and what is done with its word."""
