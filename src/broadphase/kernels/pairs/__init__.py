"""Pairs after the search.

`order` sorts them, `changes` finds which began and ended, including the contacts of a world, and
`environments` decides how many small worlds are searched together.
"""
