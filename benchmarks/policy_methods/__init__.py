"""Methods for learned policies that were measured and not taken into the product.

See docs/concepts/learned_policies.md.
"""
