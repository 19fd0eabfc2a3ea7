"""What operators watch, counted where it happens; `/metrics` shows it for this process.

Only the names and help texts are here. Everything that may be imported above may count.
"""

from prometheus_client import Counter, Gauge, Histogram

TURNS = Counter("chat_turns_total", "Model calls, by how they ended", ["state"])
TOKENS = Counter("chat_tokens_total", "Tokens, as providers count them", ["direction"])
STATEMENTS = Counter(
    "chat_statements_total", "Statements and callbacks, by how they ended", ["kind", "state"]
)
ERRORS = Counter("chat_errors_total", "Mistakes of this site, by where they happened", ["where"])
FRAMES = Counter(
    "chat_frames_total", "Frames of conversations: made, or spared since nobody watched", ["what"]
)
RESYNCS = Counter("chat_resyncs_total", "Pages that were brought up to date from the database", ["why"])
SENT = Counter("chat_sent_characters_total", "Characters sent to browsers through sockets")

CONVERSATIONS = Gauge("chat_conversations", "Conversations of the whole site, from the database", ["state"])
DRIVEN = Gauge("chat_driven_conversations", "Conversations that this process drives", ["state"])
SOCKETS = Gauge("chat_sockets", "Open sockets of pages")
INBOX = Gauge("chat_inbox_items", "Things that wait in the inboxes of driven conversations")
JOURNAL = Gauge("chat_journal_batches", "Batches that wait to be saved")
WORKERS = Gauge("chat_sandbox_sessions", "Sandbox sessions that hold a worker")

SAVE = Histogram(
    "chat_save_seconds",
    "From a change until it is saved, for all that is saved together",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5),
)
FIRST_TOKEN = Histogram(
    "chat_first_token_seconds",
    "From the call of the model to its first token",
    buckets=(0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120),
)
STATEMENT = Histogram(
    "chat_statement_seconds",
    "From the start of a statement to its end, waits included",
    buckets=(0.005, 0.025, 0.1, 0.5, 1, 5, 30, 120, 600, 3600),
)
