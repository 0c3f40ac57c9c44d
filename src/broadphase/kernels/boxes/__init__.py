"""Tests of boxes, one by one or all with all; every structure ends in them.

`overlap` decides whether boxes overlap and which pairs may count.  `brute_force` compares every box and is
the reference for all other searches.  `queries` are the tests of box, point, ray and nearest queries;
`checks` validates what the caller wrote.  `periodic` wraps boxes into a period and queries them there.
`few_boxes` compares few in a world of any kind, in one call.

For queries of many small worlds (`broadphase.indexes.environments`): `worlds` compares all boxes of a world,
or in a large one those of the bounding boxes along a curve that a query meets; `ray_groups` compares several
rays of one environment with a box at a time.
"""
