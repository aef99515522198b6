from tensorflow.keras.layers import Dense
from tensorflow.keras.models import Sequential


def build_model(width):
    model = Sequential()
    model.add(Dense(12, input_dim=width, activation="relu"))
    model.add(Dense(6, activation="relu"))
    model.add(Dense(1))
    model.compile(optimizer="adam", loss="mse")
    return model
