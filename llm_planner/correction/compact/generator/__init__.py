"""What the network of corrections learns from: sentences drawn from written phrasings, and what they ask for."""
