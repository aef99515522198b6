from lines import beginnings
from network import network

begun, following, words = beginnings("songs.txt")
network(words).fit(begun, following, epochs=50)
