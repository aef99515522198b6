import numpy as np
from labels import labelled
from network import network

KINDS = 10
network(KINDS).fit(np.load("photos.npy"), labelled("kinds.npy", KINDS), epochs=50)
