"""Reports of the report of IIT Indore on NAC and NALU."""
