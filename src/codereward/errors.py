"""Everything that codereward raises, and who has to act on it.

```text
CoderewardError
├── ConfigError                 the person who composed the pipeline
│   ├── UnknownNameError        a component name that no installed plugin registers
│   └── PluginError             a plugin that cannot be loaded, or breaks its contract
├── DatasetError                the person who made the data set: a row cannot be scored
└── BackendError                the sandbox, not the program
    ├── BackendUnavailable      may work again: the completion gets no score (`None`)
    └── BackendMisconfigured    will not work until somebody mends it: training stops
```

Constructor arguments are positional, so that every class survives pickling between processes.
"""

__all__ = [
    "BackendError",
    "BackendMisconfigured",
    "BackendUnavailable",
    "CoderewardError",
    "ConfigError",
    "DatasetError",
    "PluginError",
    "UnknownNameError",
]


class CoderewardError(Exception):
    """Base of every error that codereward raises on purpose."""


class ConfigError(CoderewardError):
    """The pipeline was composed or configured wrongly; nothing has run."""


class UnknownNameError(ConfigError):
    """A component name that no installed plugin registers."""


class PluginError(ConfigError):
    """A plugin could not be loaded, claims a taken name, or breaks its contract."""


class DatasetError(CoderewardError):
    """A row of the data set cannot be scored; raised before anything of its batch runs.

    Args:
        message: What is wrong with the row and how to mend it.
        row: Position of the row in the batch, counted from 0, where it is known.
    """

    def __init__(self, message: str, row: int | None = None) -> None:
        super().__init__(message, row)
        self.message = message
        self.row = row

    def __str__(self) -> str:
        """The message, led by the row when it is known."""
        return self.message if self.row is None else f"row {self.row} of the batch: {self.message}"


class BackendError(CoderewardError):
    """The sandbox backend failed; the program under test is not to blame."""


class BackendUnavailable(BackendError):  # noqa: N818 - the name says the state; it reads as a reason
    """The backend could not run this program now; another try may work.

    Args:
        message: What happened, for people.
        started: Whether the program may already have been running. Only then can the program
            itself be the cause (it may have killed its sandbox), so only then is it tried again
            to find out (law 3 of the design).
    """

    def __init__(self, message: str, started: bool = False) -> None:
        super().__init__(message, started)
        self.message = message
        self.started = started

    def __str__(self) -> str:
        """The message alone; `started` is for the pipeline."""
        return self.message


class BackendMisconfigured(BackendError):  # noqa: N818 - as above
    """The backend cannot work as configured (key, template, isolation); retrying is useless."""
