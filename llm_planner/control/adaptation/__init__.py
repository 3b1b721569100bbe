"""What tracking errors say about the robot: estimated, said in words, made up for inside the operator's bounds."""
