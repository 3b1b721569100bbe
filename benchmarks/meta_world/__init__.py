"""Three Meta-World tasks (arXiv:1910.10897; `metaworld` on PyPI) on which learned policies are compared.

Needs the interpreter of `make setup-lerobot`, because lerobot and metaworld pin older libraries.
"""
