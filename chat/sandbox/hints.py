"""What to write instead, for errors that come from what the sandbox's Python lacks.

Each hint is a pattern over "type: message", a second one over the source line, and the advice.
"""

import re
from typing import Final

Hint = tuple[re.Pattern[str], re.Pattern[str] | None, str]


def _hint(error: str, advice: str, line: str | None = None) -> Hint:
    return re.compile(error), re.compile(line) if line else None, advice


MODULES: Final = {
    "requests": "use the skill fetch(url)",
    "httpx": "use the skill fetch(url)",
    "aiohttp": "use the skill fetch(url)",
    "urllib.request": "use the skill fetch(url)",
    "pandas": "use lists of dicts, sorted(), sum() and collections.Counter",
    "numpy": "use lists with comprehensions, math and statistics",
    "matplotlib": "use the component Chart",
    "matplotlib.pyplot": "use the component Chart",
    "plotly": "use the component Chart",
    "bs4": "take text apart with str methods or re",
    "yaml": "use json",
    "enum": "use plain constants, or a dict of names",
    "abc": "leave base classes out: classes here have none",
    "logging": "use print()",
    "pprint": "use print(json.dumps(value, indent=2))",
    "secrets": "use random",
    "zoneinfo": "use datetime.timezone for a fixed offset, or the skill now(tz)",
    "pytz": "use datetime.timezone for a fixed offset, or the skill now(tz)",
    "fractions": "use decimal or integers",
    "threading": "use await asyncio.gather(…)",
    "concurrent.futures": "use await asyncio.gather(…)",
    "multiprocessing": "use await asyncio.gather(…)",
    "subprocess": "programs can't be started here",
    "sqlite3": "keep data in variables: they last as long as the conversation",
    "pickle": "use json",
    "types": "use Data(…) for an object with attributes",
    "inspect": "there is nothing to inspect here",
    "shutil": "there are no files here; use the skill files",
    "glob": "there are no files here; use the skill files",
    "tempfile": "there are no files here",
    "difflib": "compare with == or with sets",
    "struct": "use int.to_bytes-free arithmetic, or base64 and hashlib for bytes",
    "traceback": "print the exception: print(type(error).__name__, error)",
    "warnings": "use print()",
    "timeit": "use time.perf_counter()",
}

BOUND: Final = (
    "append add capitalize clear copy count discard endswith extend find get index insert isalpha isdigit "
    "items join keys lower lstrip pop popitem remove replace reverse rstrip setdefault sort split startswith "
    "strip title update upper values zfill format encode decode most_common elements appendleft popleft"
).replace(" ", "|")

HINTS: Final[tuple[Hint, ...]] = (
    _hint(
        r"class inheritance",
        "for an error of your own, raise ValueError or RuntimeError with a message; for data use @dataclass "
        "without a base, or a dict.",
        r"(Exception|Error)\)",
    ),
    _hint(r"class inheritance", "write a class without a base and put what is shared into functions."),
    _hint(
        r"method decorators",
        "write a property as a method and call it: x.area(); write a static or class method as a function "
        "outside of the class.",
    ),
    _hint(
        r"the 'del' statement",
        "only items can be deleted (del d[key]); set a variable or attribute to None instead.",
    ),
    _hint(r"yield expressions", "build a list and return it: items.append(x) … return items."),
    _hint(
        r"async context managers",
        "await the calls one after the other, with try/finally for what must be undone.",
    ),
    _hint(r"async for", "await the whole list first, then use a plain for loop."),
    _hint(r"exception groups", "use except instead of except*."),
    _hint(r"type aliases", "write the alias as an assignment: X = int."),
    _hint(
        r"syntax parser does not yet support",
        "this part of Python does not exist here; write it with simpler means.",
    ),
    _hint(
        r"can only be called with zero or one string argument",
        "give an exception one text: ValueError(f'…').",
    ),
    _hint(
        r"'dict' object has no attribute '(get)'",
        "a method of a dict is no value here: write lambda k: d.get(k).",
    ),
    _hint(
        rf"AttributeError: (?:type object )?'\w+' (?:object )?has no attribute '({BOUND})'",
        r"a method of a built-in type is no value here: write lambda x: value.\1(x), or lambda s: s.\1() for "
        r"the type's own.",
    ),
    _hint(r"'dict' object has no attribute", "read a dict's entries with d['name']."),
    _hint(r"'Data' object has no attribute '(\w+)'", r"set it first: Data(\1=None), or data.\1 = …."),
    _hint(
        r"'Mount' object has no attribute",
        "a mount has result(), slot(name, ui), update(ui), close() and name.",
    ),
    _hint(
        r"'module' object has no attribute '(create_task|ensure_future|TaskGroup|wait|as_completed)'",
        "tasks in the background do not exist here; wait for both: await asyncio.gather(a(), b()).",
    ),
    _hint(
        r"'module' object has no attribute '(wait_for|timeout)'",
        "give the wait itself a limit: await form.result(timeout=60).",
    ),
    _hint(
        r"'module' object has no attribute '(Queue|Event|Lock|Semaphore)'",
        "only one thing runs at a time here, so a plain list or variable does.",
    ),
    _hint(
        r"'module' object has no attribute '(now|today|strptime|fromisoformat|utcnow|fromtimestamp)'",
        r"datetime is the module here: write datetime.datetime.\1(…) or datetime.date.\1(…).",
        r"datetime",
    ),
    _hint(
        r"'module' object has no attribute 'cmp_to_key'",
        "sort with a key function: sorted(items, key=lambda item: …).",
    ),
    _hint(
        r"'module' object has no attribute '(cached_property|total_ordering|singledispatch)'",
        "write a plain function, or a method that keeps its result.",
    ),
    _hint(r"'module' object has no attribute", "only the parts of this module that work here are offered."),
    _hint(r"has no attribute '__name__'", "functions have no names here; keep the name beside the function."),
    _hint(
        r"has no attribute '__dict__'|name 'vars'",
        "list the attributes you need, or keep the values in a dict.",
    ),
    _hint(
        r"has no attribute 'isocalendar'", "count from a Monday: (d - datetime.date(d.year, 1, 1)).days // 7."
    ),
    _hint(
        r"has no attribute '(format_map|translate|maketrans)'",
        "use f-strings, str.replace, or ''.join(table.get(c, c) for c in text).",
    ),
    _hint(r"has no attribute 'is_integer'", "write x == int(x)."),
    _hint(r"has no attribute 'move_to_end'", "take it out and put it back: d[key] = d.pop(key)."),
    _hint(
        r"callable replacement", "write re.sub(pattern, function, text) with the pattern as first argument."
    ),
    _hint(r"object is not an iterator", "write next(iter(values))."),
    _hint(
        r"'(?!NoneType)\w+' has no len\(\)",
        "len() does not call __len__ here: give the class a method, such as size().",
    ),
    _hint(
        r"'<' not supported between instances of '(\w+)' and '\1'",
        "sort with a key: sorted(items, key=lambda item: item.name); __lt__ is not used here.",
    ),
    _hint(
        r"Permission denied|name 'open'|FileNotFoundError",
        "there are no files here; use the skill files, or print().",
    ),
    _hint(
        r"name 'input' is not defined",
        "ask with a form: answer = await ask(Card(TextField('name'), SubmitButton())).",
    ),
    _hint(r"name '(globals|dir|help|breakpoint)' is not defined", r"\1() does not exist here."),
    _hint(
        r"name 'issubclass' is not defined", "classes have no bases here; compare with ==, or use isinstance."
    ),
    _hint(
        r"name '(super|staticmethod|classmethod)' is not defined",
        "classes have no bases and no special methods of this kind here.",
    ),
    _hint(r"name 'delattr' is not defined", "set the attribute to None."),
    _hint(r"name '(Counter|defaultdict|deque|namedtuple)' is not defined", r"write collections.\1."),
    _hint(r"name '(date|timedelta|timezone)' is not defined", r"write datetime.\1."),
    _hint(r"name '(dataclass|field)' is not defined", r"write from dataclasses import \1 first."),
    _hint(r"name '(chain|groupby|product|combinations|permutations)' is not defined", r"write itertools.\1."),
    _hint(r"name '(partial|reduce|lru_cache)' is not defined", r"write functools.\1."),
    _hint(
        r"name '(Optional|List|Dict|Any|Callable)' is not defined",
        r"write from typing import \1 first, or leave it out.",
    ),
    _hint(r"name '(sqrt|floor|ceil|pi)' is not defined", r"write math.\1."),
    _hint(r"gather\(\) does not yet support", "use asyncio.gather from import asyncio."),
    _hint(
        r"coroutine' object|can't be awaited",
        "write await before the call of an async function, and only there.",
    ),
    _hint(r"memory limit exceeded", "keep less at once: a smaller list, a shorter text, or step by step."),
    _hint(
        r"time limit exceeded|ran for more than",
        "the code takes too long: use less data or a shorter loop; to wait, use await sleep(…).",
    ),
    _hint(r"maximum recursion depth", "write a loop instead of a function that calls itself."),
    _hint(
        r"host calls in one statement", "make fewer calls: collect the data first, then mount or print once."
    ),
)


def for_error(kind: str, message: str, source_line: str) -> str:
    """Return the hint for an error, or an empty text."""
    told = f"{kind}: {message}"
    missing = re.search(r"No module named '([\w.]+)'", message)
    if missing:
        name = missing[1]
        instead = MODULES.get(name) or MODULES.get(name.partition(".")[0])
        return f"there is no module {name} here; {instead or 'write what you need of it yourself'}."
    for error, line, advice in HINTS:
        found = error.search(told)
        if found and (line is None or line.search(source_line)):
            return found.expand(advice)
    return ""
