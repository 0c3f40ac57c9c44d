"""What is done with pairs once they are found.

`order` sorts them, `changes` finds which began and ended, `contacts` renews those of a world,
`environments` decides how many small worlds are searched.
"""
