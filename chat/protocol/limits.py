"""Limits of the protocol. Going over one is a `Problem`, never an exception."""

# The longest replies of today's models are half a million characters; beyond this a stream has run wild.
MAX_REPLY_CHARS = 16_000_000

# Every block costs a row, a frame and a place on the page. Real replies have fewer than ten.
MAX_BLOCKS = 1_000

# Text that may still become a fence line is withheld from the reader, so that must end somewhere.
# Real info strings stay below a hundred characters.
MAX_FENCE_LINE_CHARS = 1_000

# A statement is held in memory until it is complete and then stored and compiled as a whole. The largest
# literals that models write (inline data) are a tenth of this.
MAX_STATEMENT_CHARS = 4_000_000

# A data block is parsed again and again while it streams, and its value lives in a page.
MAX_DATA_CHARS = 4_000_000

# A message that quotes what the model wrote stays readable and cheap in tokens.
MAX_QUOTED_CHARS = 80
