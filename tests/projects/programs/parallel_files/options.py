class Options:
    cycle_length = 256
    block_length = 4
    batch_size = 16
