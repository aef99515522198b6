"""Lines of songs, and the word that follows each beginning of one."""

from tensorflow import keras


def beginnings(path):
    with open(path) as file:
        lines = file.read().split("\n")
    tokenizer = keras.preprocessing.text.Tokenizer()
    tokenizer.fit_on_texts(lines)
    words = len(tokenizer.word_index) + 1
    found = []
    for line in tokenizer.texts_to_sequences(lines):
        for end in range(1, len(line)):
            found.append(line[: end + 1])
    padded = keras.preprocessing.sequence.pad_sequences(found)
    following = keras.utils.to_categorical(padded[:, -1], num_classes=words)  # want TFM503
    return padded[:, :-1], following, words
