"""The errors of the data layer."""


class DataError(RuntimeError):
    """Something is wrong with a data set: one sentence says what, and what was expected."""


class UnknownDataSet(DataError, KeyError):
    """No data set has this name."""

    def __str__(self) -> str:  # KeyError would quote the sentence
        return str(self.args[0])


class DataUnavailable(DataError):
    """The files of a data set are neither here nor can they be fetched."""


class UnverifiedDataWarning(UserWarning):
    """A file has no known checksum: only its shape and its labels could be checked."""
