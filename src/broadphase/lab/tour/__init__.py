"""The tour: eight still or slowly moving scenes, each of which shows one thing about the methods.

A step is a family of pictures: one for each value of its slider, each frame, and each place of the one ball
that can be dragged.  The engine makes every picture anew (`pictures`), so a server answers whatever is
slid and dragged, and `recording` can hold the same pictures for a site without a server.

``steps`` says what the steps show, ``room`` where their balls lie, ``pictures`` lets the engine look at
one, ``recording`` packs all pictures of a step into bytes, ``export`` writes a folder for a web server.
"""
