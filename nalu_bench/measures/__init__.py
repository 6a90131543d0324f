"""Measures by name: functions (prediction, target) -> scalar that judge a network."""
