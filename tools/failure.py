"""What the programs of this folder give up with."""


class Failure(Exception):
    """Something a person can act on; its text says what."""
