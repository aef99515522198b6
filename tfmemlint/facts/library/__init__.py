"""What is known of NumPy, TensorFlow and Keras, whatever the file says."""
