"""Omikuji's label trees as a content classifier of labelkin."""

from labelkin_omikuji.content import OmikujiContent
from labelkin_omikuji.forest import OmikujiForest

__all__ = ["OmikujiContent", "OmikujiForest"]
