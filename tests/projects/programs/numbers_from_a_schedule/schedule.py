def rates(steps):
    for step in range(steps):
        yield 0.1 * 0.99**step
