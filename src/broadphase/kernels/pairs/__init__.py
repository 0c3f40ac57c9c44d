"""What is done with pairs once they are found.

`order` sorts them, `changes` finds which began and ended, also the contacts of a world, and `environments`
decides how many small worlds are searched together.
"""
