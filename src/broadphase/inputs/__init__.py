"""What comes in: arguments are copied (`boxes.settled`), then checked once, and nowhere below this package.

`boxes` and `points` are arrays of boxes and points, `space` is what ``period=`` and ``env=`` mean, `numeric`
single numbers, `foreign` the tables, columns and shapes of other libraries.
"""
