"""Intervals, comparisons and corrections: functions of numbers alone."""
