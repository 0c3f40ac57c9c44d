"""Boxes one by one or all with all: the tests that every structure ends in.

`overlap` decides whether boxes overlap and which pairs may count.  `brute_force` looks at every box and is
what all else is measured against.  `queries` are the tests of box, point, ray and nearest queries; `checks`
looks at what the caller wrote.  `periodic` wraps boxes into a period and queries them there.
"""
