"""From a plan to stored runs: processes, progress, memory, the compiler."""
