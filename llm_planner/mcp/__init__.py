"""Tool server for other agents, by the Model Context Protocol: they see the scene, preview, command, correct and stop.

Everything that an agent wants goes the way of a person's words, as the source `mcp`: the planner reads, checks,
rehearses and permits it. The server itself moves nothing, and hands out no topics.
"""
