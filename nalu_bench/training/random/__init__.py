"""Random numbers with an address: streams, and the draws made of them."""
