"""Public name of the intervals."""

from nalu_bench.analysis.stats.intervals import beta_mean_interval, gamma_mean_interval, wilson_interval

__all__ = ["beta_mean_interval", "gamma_mean_interval", "wilson_interval"]
