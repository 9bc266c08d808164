"""An answer that is not 200, of the image pipeline's HTTP servers."""


class Refused(Exception):
    """The status of the answer, and why."""

    def __init__(self, status, why):
        super().__init__(why)
        self.status = status
