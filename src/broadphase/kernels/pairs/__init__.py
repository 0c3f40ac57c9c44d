"""What is done with pairs once they are found.

`order` sorts them, `pair_changes` compares two sorted lists, `journal` knows which pairs may have changed
since, `contacts` renews those of a world.  `worlds` decides how many small worlds are searched.
"""
