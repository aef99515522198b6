from .values import *
