from tensorflow import keras


def network(words):
    layers = keras.layers
    model = keras.Sequential([layers.Embedding(words, 64), layers.LSTM(128)])
    model.add(layers.Dense(words, activation="softmax"))
    model.compile(optimizer="adam", loss="categorical_crossentropy")
    return model
