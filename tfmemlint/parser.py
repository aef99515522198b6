"""The parser of command lines: argparse's, with a guess at what a misspelt word was to be."""

from __future__ import annotations

import argparse
import re
from typing import NoReturn

from tfmemlint.slips import did_you_mean


class Parser(argparse.ArgumentParser):
    """Ends the program where arguments make no sense, with the nearest one that does."""

    def error(self, message: str) -> NoReturn:
        unknown = re.match(r"unrecognized arguments: (-[^\s=]+)", message)
        choice = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
        if unknown:
            message += did_you_mean(unknown[1], self._option_string_actions)
        elif choice and "maybe you meant" not in message:  # which Python itself says, some day
            message += did_you_mean(choice[1], re.findall(r"[\w-]+", choice[2]))
        super().error(message)
