"""Whether code stands inside a triple-quoted string, at the price of reading it only where it matters."""

from chat.protocol.lexer import PythonLexer

_MARKS = ('"""', "'''")


class TripleQuoteWatch:
    """Follows the code of one block. Append to `pieces` as it comes; ask `inside` at the start of a line."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._unread: list[str] = []
        self._lexer = PythonLexer()
        self._possible = False  # a string may be open: it is, or its marks are in what is unread

    def inside(self) -> bool:
        """True inside an unfinished triple-quoted string; all pieces together must end with a line."""
        if self.pieces:
            code = "".join(self.pieces)
            self.pieces.clear()
            self._unread.append(code)
            self._possible = self._possible or any(mark in code for mark in _MARKS)
        if not self._possible:
            return False
        self._lexer.feed("".join(self._unread))
        self._unread.clear()
        self._possible = self._lexer.in_triple_quotes
        return self._possible
