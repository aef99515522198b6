import glob

import cv2
import keras
from gather import gather


def read(path):
    return cv2.resize(cv2.imread(path), (160, 160))


model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(1)])
model.compile("adam", "mse")
images = gather(glob.glob("photos/*.jpg"), read)
model.fit(images, images[:, 0, 0, 0])
