"""Skills that see: where to act is read off the camera's picture by a small network, and no pose of a thing."""
