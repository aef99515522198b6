"""The different words of a text, which nobody counts beforehand: thousands, as a rule."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.syntax.nodes import called

_TOKENIZED = frozenset({"get_vocabulary", "index_word", "vocabulary_size", "word_index"})
"""What tokenizers know their words by."""
_AS_MANY = frozenset({"dict", "enumerate", "list", "set", "sorted", "tuple"})
_SPLITS = frozenset({"findall", "split", "word_tokenize"})
"""What makes words of a text; whatever else is made of one may be its letters."""
_MAX_HOPS = 8


class DifferentWords:
    """What counts such words, and what looks up their numbers."""

    def __init__(self, tf: TensorFlow) -> None:
        self._growths = tf.growths
        self._ways = tf.sources

    def are_counted(self, number: ast.AST) -> bool:
        """Whether a number is that of words: `len(set(words)) + 1`, `len(tokenizer.word_index)`."""
        return any(map(self._counts, ast.walk(number)))

    def _counts(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Call) and called(node) == "len" and node.args:
            return self._are_different(node.args[0])
        return isinstance(node, ast.Attribute) and node.attr in _TOKENIZED

    def are_looked_up(self, labels: ast.expr) -> bool:
        """Whether labels are numbers of words: `labels.append(index[word])`."""
        added = (each for grown in self._growths.of(labels) for each in grown.elements)
        return any(
            isinstance(each, ast.Subscript) and self._are_different(each.value) for each in added
        )

    def _are_different(self, node: ast.AST) -> bool:
        """Whether this has an entry for each of a list's different words."""
        frame: Frame | None = None
        is_set = False
        for _ in range(_MAX_HOPS):
            end = self._ways.same(node, frame)[-1]
            node, frame = end.node, end.frame
            if isinstance(node, (ast.DictComp, ast.GeneratorExp, ast.ListComp, ast.SetComp)):
                is_set = is_set or isinstance(node, ast.SetComp)
                node = node.generators[0].iter
            elif isinstance(node, ast.Call) and node.args and called(node) in _AS_MANY:
                is_set = is_set or called(node) == "set"
                node = node.args[0]
            else:
                break
        return is_set and any(_lists_words(each.node) for each in self._ways.of(node, frame).found)


def _lists_words(end: ast.AST) -> bool:
    if isinstance(end, ast.Call):
        name = end.func.attr if isinstance(end.func, ast.Attribute) else called(end)
        return name in _SPLITS
    return isinstance(end, (ast.List, ast.ListComp))
