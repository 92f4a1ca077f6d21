"""The errors of the data layer."""


class DataError(RuntimeError):
    """A data set is wrong: one sentence says how, and what was expected."""


class UnknownDataSet(DataError, KeyError):
    """No data set has this name."""

    def __str__(self) -> str:  # KeyError would quote the sentence
        return str(self.args[0])


class DataUnavailable(DataError):
    """The files of a data set are not at hand and can't be fetched."""


class UnverifiedDataWarning(UserWarning):
    """A file has no known checksum: only its shape and its labels could be checked."""
