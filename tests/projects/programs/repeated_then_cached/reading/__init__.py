from .readers import read_images as images
