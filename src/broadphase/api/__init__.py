"""Arrays in, arrays out: `pairs`, `join`, `count_pairs`, `explain`, `neighbors`, `nearest`, `swept_pairs`."""
