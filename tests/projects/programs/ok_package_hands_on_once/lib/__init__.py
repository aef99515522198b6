from .answers import answer
from .networks import build
