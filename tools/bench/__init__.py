"""Measures laneway against its targets; scripts/bench is its command."""
