"""Losses by name: functions (prediction, target) -> scalar that training minimises."""
