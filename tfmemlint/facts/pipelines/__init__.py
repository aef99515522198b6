"""The tf.data pipelines: steps, elements, lengths, consumers."""
