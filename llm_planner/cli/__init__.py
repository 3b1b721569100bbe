"""The commands of `llm-planner`."""
