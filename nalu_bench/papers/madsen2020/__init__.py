"""Reports of Madsen & Johansen 2020, Neural Arithmetic Units."""
