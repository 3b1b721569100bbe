"""Plans, their steps, and execution as (state, event) -> (state, commands)."""
