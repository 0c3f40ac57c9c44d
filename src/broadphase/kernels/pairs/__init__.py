"""Pairs after the search.

`order` sorts them, and `changes` finds which began and ended, including the contacts of a world.
"""
