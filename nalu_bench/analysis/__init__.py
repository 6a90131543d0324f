"""Analysis: runs become numbers with intervals, and these get verdicts against the printed numbers."""
