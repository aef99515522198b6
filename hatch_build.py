"""Ships the fixtures inside a wheel: `tfmemlint rule` shows them, `tfmemlint verify` runs them."""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ShipFixtures(BuildHookInterface[Any]):
    """Not for editable installs, where a copy would soon be stale."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "standard":
            build_data["force_include"]["fixtures"] = "tfmemlint_rules/_fixtures"
