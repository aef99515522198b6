from data import read_folder


def train_and_test(root):
    return read_folder(root + "/train"), read_folder(root + "/test")
