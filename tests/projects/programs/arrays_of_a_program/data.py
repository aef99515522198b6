import os

import cv2
import numpy as np


def read_folder(folder):
    images = []
    for name in sorted(os.listdir(folder)):
        image = cv2.imread(os.path.join(folder, name))
        images.append(cv2.resize(image, (224, 224)))
    return np.array(images)  # want TFM604
