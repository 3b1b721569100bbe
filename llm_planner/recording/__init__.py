"""Recordings of runs: MCAP files of ROS 2 messages, written while the robot works; read, told and converted later.

Needs the packages `mcap` and `mcap-ros2-support` (`pip install 'llm_planner[record]'`); nothing else here imports ROS.
"""
