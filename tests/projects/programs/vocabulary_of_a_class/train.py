import tensorflow as tf
from network import Network
from words import Vocabulary

vocabulary = Vocabulary("vectors.txt", 300)
with tf.Graph().as_default():
    network = Network(vocabulary=vocabulary)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for batch in open("texts.txt"):
            given = [[vocabulary.numbers[word] for word in batch.split()]]
            print(session.run(network.inputs, {network.words: given}))
