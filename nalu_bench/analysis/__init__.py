"""From runs to numbers with intervals, and from those to verdicts against what was printed."""
