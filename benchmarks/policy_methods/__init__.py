"""Methods for learned policies that were measured and not taken into the product; see docs/concepts/learned_policies.md."""
