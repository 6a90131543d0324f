"""Measures by name: functions (prediction, target) -> scalar that a network is judged by."""
