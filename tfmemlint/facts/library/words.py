"""Words for triggers, and names of libraries; asking for them imports nothing else."""

import sys

PIPELINE_WORDS = (
    "Dataset DatasetV2 FixedLengthRecordDataset TFRecordDataset TextLineDataset "
    "assert_cardinality audio_dataset_from_directory bucket_by_sequence_length "
    "choose_from_datasets cycle_length deterministic drop_remainder experimental flat_map "
    "group_by_window ignore_errors image_dataset_from_directory interleave make_csv_dataset "
    "map_func num_parallel_calls padded_batch padded_shapes prefetch ragged_batch "
    "reshuffle_each_iteration sample_from_datasets take_while tensorflow_datasets "
    "text_dataset_from_directory timeseries_dataset_from_array unbatch with_options"
)
"""Words of which a file has one if it has a pipeline that is surely of tf.data."""

TRACING_WORDS = "filter flat_map function group_by_window interleave map reduce scan take_while"
"""Words of which a file has one if it gives TensorFlow any function of its own to trace."""

TRACED_WORDS = f"call predict_step test_step train_step {TRACING_WORDS}"
"""Words of which a file has one if any of its code is surely traced into a graph."""

FUSED_METHODS = {"map_and_batch": ("map", "batch"), "shuffle_and_repeat": ("shuffle", "repeat")}
"""What functions for `apply` do: who waits for a method waits for them as well."""

LIBRARIES = sys.stdlib_module_names | {"keras", "numpy", "tensorflow", "tf_keras"}
"""What no other file of a project is taken for, even where it has the name of one."""
READING_WORDS = (
    "Open ReadImage VideoCapture dcmread decode_and_crop_jpeg decode_bmp decode_gif decode_image "
    "decode_jpeg decode_png decode_raw decode_wav frombuffer fromfile fromstring genfromtxt "
    "imdecode imread load load_img loadmat loadtxt mimread open parse_tensor rdrecord "
    "rdsamp read read_file reader volread"
)
"""What reads or decodes arrays, and what opens files for that."""
