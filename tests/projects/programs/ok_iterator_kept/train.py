from dataset import training_data

batches = training_data()
for step in range(1000):
    print(next(batches).shape)
