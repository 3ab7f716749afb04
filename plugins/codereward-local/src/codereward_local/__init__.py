"""Executor `local`."""
