"""Methods for learned policies that were measured and not taken into the product; see docs/learned_policies.md."""
