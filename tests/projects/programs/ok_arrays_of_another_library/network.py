import keras

keras.Sequential([keras.layers.Dense(10)]).save("network.keras")
