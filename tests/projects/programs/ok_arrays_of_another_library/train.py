"""A network of keras is trained elsewhere; this one is not."""

import torch
from data import read_folder

images = torch.from_numpy(read_folder("photos"))
print(images.shape)
