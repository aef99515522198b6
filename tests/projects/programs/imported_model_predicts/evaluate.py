import numpy as np

from models import Classifier

classifier = Classifier(10)
samples = np.load("samples.npy")
predictions = []
for i in np.arange(len(samples)):
    predictions.append(classifier.predict(samples[i : i + 1]))  # want TFM303
print(np.concatenate(predictions).shape)
