import glob
import os

import cv2
import keras
from gather import gather


def height(path):
    return cv2.imread(path).shape[0]


print(gather(glob.glob("photos/*.jpg"), height), gather(glob.glob("*.txt"), os.path.getsize))
keras.Sequential([keras.layers.Dense(1)]).save("network.keras")
