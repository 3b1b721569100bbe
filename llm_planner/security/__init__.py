"""SROS 2: who may publish, subscribe, serve and call what, and the signed files that say so to the middleware."""
