"""Hits to files: CSV, JSON lines, Parquet and .npz, in chunks, whole or not at all.

Examples
--------
>>> from fastmks.outputs import OUTPUT_FORMS
>>> OUTPUT_FORMS
('csv', 'jsonl', 'npz', 'parquet')
"""

from fastmks.outputs.answers import Answers, answers_of
from fastmks.outputs.writer import OUTPUT_FORMS, output_form, write_answers

__all__ = ["OUTPUT_FORMS", "Answers", "answers_of", "output_form", "write_answers"]
