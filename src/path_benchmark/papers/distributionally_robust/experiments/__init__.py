"""What is run of G. Tang's dissertation (2023), by chapter; `outputs`: what is made of it."""

from . import chapter_3, chapter_4, chapter_5
from .shared import PAPER

__all__ = ["PAPER", "chapter_3", "chapter_4", "chapter_5"]
