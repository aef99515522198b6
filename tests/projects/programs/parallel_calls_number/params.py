params = {"workers": 64, "batch": 32}
