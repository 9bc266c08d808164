"""The error with which the programs of this folder give up."""


class Failure(Exception):
    """An error that a person can act on; the text says how."""
