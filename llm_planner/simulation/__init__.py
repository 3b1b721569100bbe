"""MuJoCo worlds, cameras and stepping; no ROS here."""
