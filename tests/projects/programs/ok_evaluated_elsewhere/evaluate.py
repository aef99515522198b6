import glob

from tensorflow import keras

from data import batches

names = sorted(glob.glob("images/*/*.jpg"))
labels = [int(name.split("/")[1]) for name in names]
held_out = batches(names, labels, 32)

model = keras.models.load_model("trained.keras")
print(model.evaluate(held_out))
