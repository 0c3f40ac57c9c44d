"""Shared by every call: helper threads, long work in slices, recycled memory."""
