"""The suites: pytest classes made of the checks in `codereward.testing.checks`."""
