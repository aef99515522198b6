import keras
from loaders import train_and_test

train, test = train_and_test("photos")
model = keras.applications.MobileNetV2(weights=None)
model.compile("adam", "mse")
model.fit(train, train, validation_data=(test, test))
