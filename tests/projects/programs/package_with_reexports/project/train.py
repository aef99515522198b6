import glob

from .data import make_pipeline


def main():
    dataset = make_pipeline(glob.glob("images/*.png"))
    dataset = dataset.shuffle(500)  # want TFM202
    for batch in dataset:
        print(batch.shape)


if __name__ == "__main__":
    main()
