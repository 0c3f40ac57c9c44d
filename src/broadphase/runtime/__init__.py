"""What every call runs on: helper threads, long work in slices, recycled memory."""
