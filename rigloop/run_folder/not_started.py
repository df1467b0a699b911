"""The error that ends a command before anything was armed."""


class NotStartedError(RuntimeError):
    """The run could not be started; the torque never left zero. The message has cause and remedy."""
