"""`tfmemlint server`: findings and fixes in editors, by the Language Server Protocol."""
