"""What comes in: arguments are copied (`arrays.settled`), then checked once, nowhere else.

`boxes`, `rules`, `points`, `periods`, `environments` and `numeric` (single numbers) check; `search` does both
for the calls that find pairs.  `foreign` reads tables, columns and shapes of other libraries.  `room` refuses
what does not fit into memory.
"""
