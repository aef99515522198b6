from tensorflow import keras


def build_model(units):
    keras.backend.clear_session()
    model = keras.Sequential([keras.Input([20, 1]), keras.layers.LSTM(units), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
    return model
