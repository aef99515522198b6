"""The arguments of Keras' layers that say what they make and hold, and in which order they come."""

from __future__ import annotations

PARAMETERS = {
    "AdaptiveAveragePooling": "output_size data_format",
    "AdaptiveMaxPooling": "output_size data_format",
    "Attention": "use_scale score_mode",
    "AdditiveAttention": "use_scale",
    "AveragePooling": "pool_size strides padding data_format",
    "BatchNormalization": "axis momentum epsilon center scale",
    "Bidirectional": "layer merge_mode weights backward_layer",
    "CenterCrop": "height width data_format",
    "Concatenate": "axis",
    "Conv": "filters kernel_size strides padding data_format dilation_rate groups activation "
    "use_bias",
    "ConvLSTM": "filters kernel_size strides padding data_format dilation_rate activation "
    "recurrent_activation use_bias",
    "ConvTranspose": "filters kernel_size strides padding output_padding data_format "
    "dilation_rate activation use_bias",
    "Conv3DTranspose": "filters kernel_size strides padding data_format output_padding "
    "dilation_rate activation use_bias",
    "Cropping": "cropping data_format",
    "Dense": "units activation use_bias",
    "DepthwiseConv": "kernel_size strides padding depth_multiplier data_format dilation_rate "
    "activation use_bias",
    "Embedding": "input_dim output_dim",
    "GRU": "units activation recurrent_activation use_bias",
    "GRUCell": "units activation recurrent_activation use_bias",
    "GlobalAveragePooling": "data_format keepdims",
    "GlobalMaxPooling": "data_format keepdims",
    "GroupNormalization": "groups axis epsilon center scale",
    "GroupQueryAttention": "head_dim num_query_heads num_key_value_heads dropout use_bias",
    "InputLayer": "shape",
    "LSTM": "units activation recurrent_activation use_bias",
    "LSTMCell": "units activation recurrent_activation use_bias",
    "LayerNormalization": "axis epsilon center scale",
    "MaxPooling": "pool_size strides padding data_format",
    "MultiHeadAttention": "num_heads key_dim value_dim dropout use_bias output_shape",
    "Normalization": "axis mean variance",
    "PReLU": "alpha_initializer alpha_regularizer alpha_constraint shared_axes",
    "Permute": "dims",
    "RMSNormalization": "axis epsilon",
    "RNN": "cell return_sequences return_state",
    "RandomCrop": "height width seed data_format",
    "RepeatVector": "n",
    "Reshape": "target_shape",
    "Resizing": "height width interpolation crop_to_aspect_ratio pad_to_aspect_ratio fill_mode "
    "fill_value antialias data_format",
    "ReversibleEmbedding": "input_dim output_dim tie_weights",
    "SeparableConv": "filters kernel_size strides padding data_format dilation_rate "
    "depth_multiplier activation use_bias",
    "SimpleRNN": "units activation use_bias",
    "SimpleRNNCell": "units activation use_bias",
    "SpectralNormalization": "layer power_iterations",
    "TimeDistributed": "layer",
    "UpSampling": "size data_format",
    "ZeroPadding": "padding data_format",
}
"""By class, without the number of axes that it is for unless that makes a difference: in order,
as far as any of them matters."""

OTHERWISE = {
    "backward_layer": (None,),
    "data_format": (None, "channels_last", "tf"),
    "dtype": (None, "float32"),
    "lora_rank": (None,),
    "output_padding": (None,),
    "output_shape": (None,),
    "quantization_config": (None,),
    "ragged": (False,),
    "renorm": (False,),
    "return_state": (False,),
    "sparse": (False,),
    "use_gate": (False,),
}
"""Arguments that change what a layer makes or holds in ways that nobody follows: what they may say
without doing so."""

FORMERLY = {
    "data_format": "dim_ordering",
    "filters": "nb_filter",
    "padding": "border_mode",
    "strides": "subsample",
    "units": "output_dim",
}
"""What Keras 1 called an argument."""

ALIASES = {
    "AvgPool": "AveragePooling",
    "Convolution": "Conv",
    "ConvolutionTranspose": "ConvTranspose",
    "GlobalAvgPool": "GlobalAveragePooling",
    "GlobalMaxPool": "GlobalMaxPooling",
    "MaxPool": "MaxPooling",
    "SeparableConvolution": "SeparableConv",
}
"""Other names of classes, up to the number of their axes."""

KEEPS = frozenset(
    """Activation ActivityRegularization AlphaDropout AugMix AutoContrast BatchNormalization
    CenteredDropout ContrastLimitedAdaptiveHistogramEqualization Dropout ELU Equalization
    GaussianDropout GaussianNoise GroupNormalization Identity InputLayer LayerNormalization
    LeakyReLU Masking Normalization PReLU RMSNormalization RandAugment RandomBrightness
    RandomColorDegeneration RandomColorJitter RandomContrast RandomElasticTransform RandomErasing
    RandomFlip RandomGaussianBlur RandomGrayscale RandomHue RandomInvert RandomPerspective
    RandomPosterization RandomRotation RandomSaturation RandomSharpness RandomShear
    RandomTranslation RandomZoom ReLU Rescaling Softmax Solarization SpatialDropout1D
    SpatialDropout2D SpatialDropout3D UnitNormalization""".split()  # noqa: SIM905
)
"""Layers whose output has the shape of their input."""

NORMALIZES = frozenset(
    """BatchNormalization GroupNormalization LayerNormalization Normalization PReLU
    RMSNormalization""".split()  # noqa: SIM905
)
"""Those of them that have weights."""

MERGES = frozenset({"Add", "Average", "Maximum", "Minimum", "Multiply", "Subtract"})
"""Layers that make one of several, number by number."""

WEIGHTLESS = frozenset(
    """Concatenate CenterCrop CutMix Dot Flatten MaxNumBoundingBoxes MixUp Permute RandomCrop
    RepeatVector Reshape Resizing""".split()  # noqa: SIM905
)
"""Others that have no weights, and those of a number of axes by how their names begin."""
WEIGHTLESS_OF_AXES = frozenset(
    (
        "AdaptiveAveragePooling",
        "AdaptiveMaxPooling",
        "AveragePooling",
        "Cropping",
        "GlobalAveragePooling",
        "GlobalMaxPooling",
        "MaxPooling",
        "UpSampling",
        "ZeroPadding",
    )
)

TOGETHER = {
    "GroupQueryAttention": ("query", "value", "key"),
    "MultiHeadAttention": ("query", "value", "key"),
}
"""Layers that are given several tensors one by one, and by which names."""
