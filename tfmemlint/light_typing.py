"""What data and checks are written with, without `typing`: to import that takes long.

All is the same for type checkers. At run time a NamedTuple is made in half the time, as nobody
looks at what its annotations say.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
    from typing import cast as cast
else:
    from collections import namedtuple

    def cast(kind, value):
        return value

    class _Making(type):
        def __new__(cls, name, bases, namespace):
            if not bases:
                return super().__new__(cls, name, bases, namespace)
            fields = namespace.get("__annotations__", ())
            defaults = [namespace.pop(each) for each in fields if each in namespace]
            made = namedtuple(name, fields, defaults=defaults, module=namespace["__module__"])
            for key, value in namespace.items():
                setattr(made, key, value)
            return made

    class NamedTuple(metaclass=_Making):
        """As `typing.NamedTuple`."""
