"""The compact model: a small network of our own that turns a command and a scene into a policy program, offline."""
