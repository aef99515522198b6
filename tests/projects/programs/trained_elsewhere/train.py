import glob

from tensorflow import keras

from data import batches

names = sorted(glob.glob("images/*/*.jpg"))
labels = [int(name.split("/")[1]) for name in names]
train = batches(names[1000:], labels[1000:], 32)
held_out = batches(names[:1000], labels[:1000], 32)

model = keras.applications.MobileNetV2(weights=None, input_shape=(128, 128, 3), classes=10)
model.compile("sgd", "sparse_categorical_crossentropy")
model.fit(train, validation_data=held_out, epochs=10)
