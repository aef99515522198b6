import glob

import numpy as np
from tensorflow.keras.preprocessing.image import img_to_array, load_img


def load_images(folder):
    images = []
    for path in sorted(glob.glob(folder + "/*.jpg")):
        images.append(img_to_array(load_img(path, target_size=(224, 224))))
    return images
