"""Reads a command into its task and the specifications that go with it, without a server."""
