import numpy as np

CLASS_WEIGHTS = np.array([1.0, 2.0, 0.5])
