"""Pairs after the search.

`order` sorts them, `changes` finds which began and ended, including the contacts of a world, and `near` lists
what is near movers.
"""
