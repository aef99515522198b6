"""What TensorFlow traces, and what that makes of Python."""
