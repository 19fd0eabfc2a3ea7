"""Provided modules do what CPython's do: the same expression gives the same value here and there."""

# ruff: noqa: E501 - code samples stay on one line

import importlib
import random
import urllib.parse
import uuid
from typing import Any

import pytest

from chat.sandbox import modules
from chat.sandbox.base import Finished, Session
from tests.sandbox.scripted import ScriptedHost, error, run, value

pytestmark = pytest.mark.asyncio(loop_scope="session")

# What works, by module: this list is what the documentation may promise.
WORKS: dict[str, str] = {
    "asyncio": "gather run sleep to_thread TimeoutError",
    "calendar": "FRIDAY MONDAY SATURDAY SUNDAY THURSDAY TUESDAY WEDNESDAY day_abbr day_name isleap leapdays month_abbr "
    "month_name monthcalendar monthrange weekday",
    "collections": "Counter OrderedDict defaultdict deque namedtuple",
    "contextlib": "closing nullcontext suppress",
    "dataclasses": "FrozenInstanceError MISSING asdict astuple dataclass field is_dataclass replace",
    "datetime": "MAXYEAR MINYEAR UTC date datetime time timedelta timezone",
    "functools": "cache lru_cache partial reduce wraps",
    "heapq": "heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest",
    "html": "escape",
    "io": "StringIO",
    "json": "JSONDecodeError dump dumps load loads",
    "operator": "abs add and_ attrgetter concat contains eq floordiv ge getitem gt is_ is_not itemgetter le lt mod mul "
    "ne neg not_ or_ pow sub truediv truth xor",
    "re": "A ASCII DOTALL I IGNORECASE M MULTILINE Match NOFLAG Pattern PatternError S compile error escape findall "
    "finditer fullmatch match search split sub",
    "statistics": "StatisticsError correlation covariance fmean geometric_mean harmonic_mean linear_regression mean "
    "median median_high median_low mode multimode pstdev pvariance quantiles stdev variance",
    "string": "ascii_letters ascii_lowercase ascii_uppercase capwords digits hexdigits octdigits printable punctuation "
    "whitespace",
    "textwrap": "dedent fill indent shorten wrap",
    "time": "altzone asctime ctime daylight gmtime localtime mktime monotonic monotonic_ns perf_counter "
    "perf_counter_ns process_time sleep strftime strptime time time_ns timezone tzname",
    "urllib.parse": "parse_qs parse_qsl quote quote_plus unquote unquote_plus urlencode urlparse urlsplit urlunsplit",
    "uuid": "NAMESPACE_DNS NAMESPACE_URL UUID uuid3 uuid4 uuid5",
    "base64": "b64encode b64decode urlsafe_b64encode", "bisect": "bisect insort", "copy": "copy deepcopy",
    "csv": "reader writer DictReader DictWriter", "decimal": "Decimal ROUND_HALF_UP", "hashlib": "sha256 md5",
    "itertools": "chain combinations groupby product count islice", "math": "sqrt pi floor isclose prod",
    "random": "choice randint random sample shuffle seed", "typing": "Any Optional Callable",
    "unicodedata": "normalize name", "binascii": "hexlify crc32",
}  # fmt: skip


async def test_the_list_is_complete() -> None:
    assert set(WORKS) == (set(modules.PROVIDED) - {"urllib"}) | modules.NATIVE


@pytest.mark.parametrize("module", WORKS)
async def test_every_way_to_import(session: Session, host: ScriptedHost, module: str) -> None:
    names = WORKS[module].split()
    for code in (
        f"import {module}\n[{', '.join(f'{module}.{name}' for name in names)}]\n1",
        f"import {module} as other\nother.{names[0]}\n1",
        f"from {module} import {', '.join(names)}\n[{', '.join(names)}]\n1",
        f"from {module} import (\n    {names[0]} as renamed,\n)\nrenamed\n1",
        f"def inside():\n    from {module} import {names[0]}\n    return {names[0]}\ninside()\n1",
    ):
        assert await run(session, host, code) == Finished(1), code


@pytest.mark.parametrize("module", [module for module in WORKS if "." not in module])
async def test_without_an_import(session: Session, host: ScriptedHost, module: str) -> None:
    assert await run(
        session, host, f"def inside():\n    return {module}.{WORKS[module].split()[0]}\ninside()\n1"
    ) == Finished(1)


# Expressions that are evaluated here and in CPython.
SAME = [
    "statistics.mean([1, 2, 3, 4])", "statistics.mean([1, 2, 3])", "statistics.mean([0.1, 0.2, 0.3])",
    "statistics.mean([1e308, 1e308])", "statistics.fmean([1, 2, 4])", "statistics.fmean([1, 2], [3, 1])",
    "statistics.median([3, 1, 2])", "statistics.median([4, 1, 2, 3])", "statistics.median_low([1, 2, 3, 4])",
    "statistics.median_high([1, 2, 3, 4])", "statistics.mode(['a', 'b', 'b'])", "statistics.multimode('aabbc')",
    "statistics.stdev([1, 2, 3, 4])", "statistics.stdev([0.1, 0.5, 0.25])", "statistics.pstdev([1, 2, 3, 4.5])",
    "statistics.variance([1, 2, 3])", "statistics.variance([1.5, 2.5, 4])", "statistics.pvariance([1, 2, 3, 4])",
    "statistics.quantiles([1, 2, 3, 4, 5])", "statistics.quantiles(range(20), n=10)",
    "statistics.quantiles([1, 5, 2], n=3, method='inclusive')", "statistics.harmonic_mean([40, 60])",
    "list(statistics.linear_regression([1, 2, 3], [2, 4, 6]))", "statistics.correlation([1, 2, 3], [3, 2, 1])",
    "statistics.covariance([1, 2, 3], [1, 5, 7])",
    "textwrap.wrap('The quick brown fox, well-known for jumping -- over the lazy dog.', 12)",
    "textwrap.fill('a  b\\tc\\n\\nd', 5)", "textwrap.wrap('abcdefghijklmnop qrs', 5)",
    "textwrap.wrap('abcdefghij-klm-nop qrs', 8)", "textwrap.shorten('Hello   world and more', 12)",
    "textwrap.shorten('Hello world!', width=11, placeholder='...')", "textwrap.dedent('  a\\n    b\\n\\n  c\\n')",
    "textwrap.dedent('\\ta\\n  b')", "textwrap.indent('a\\n\\nb\\n', '> ')",
    "textwrap.wrap('x ' * 30, 20, initial_indent='* ', subsequent_indent='  ')",
    "textwrap.wrap('verylongwordindeed a', 6, break_long_words=False)", "textwrap.wrap('', 5)",
    "string.capwords('hello  big world')", "string.punctuation", "string.printable",
    "calendar.monthrange(2024, 2)", "calendar.monthcalendar(2026, 2)", "calendar.isleap(1900)",
    "calendar.leapdays(1999, 2025)", "list(calendar.month_name)", "list(calendar.day_abbr)", "calendar.weekday(2026, 11, 30)",
    "urllib.parse.quote('a b/ü&?~')", "urllib.parse.quote('a/b', safe='')", "urllib.parse.quote_plus('a b/ü')",
    "urllib.parse.unquote('a%20b%2Fü%C3%BC%zz')", "urllib.parse.unquote_plus('a+b%2B')",
    "urllib.parse.urlencode({'a': 'x y', 'b': [1, 2], 'ü': None})",
    "urllib.parse.urlencode([('a', 1), ('b', [2, 3])], doseq=True)",
    "urllib.parse.parse_qs('a=1&b=2&a=3&c=')", "urllib.parse.parse_qsl('a=1&b=%20x&&c', keep_blank_values=True)",
    *(
        f"[urllib.parse.urlsplit({url!r}).{part} for _ in 'x'][0]"
        for url in ("https://user:pw@Example.com:8080/a/b;c?x=1&y#frag", "mailto:a@b.c", "//host/path", "/only/path?q", "x:y", "http://[::1]:80/")
        for part in ("scheme", "netloc", "path", "query", "fragment", "hostname", "port", "username")
    ),
    "urllib.parse.urlparse('https://a.b/c?d#e').geturl()", "urllib.parse.urlunsplit(['https', 'a.b', 'c', 'd', 'e'])",
    "html.escape('<a href=\"x\">&\\'</a>')", "html.escape('\"', quote=False)",
    "[heapq.heappop(h) for h in [[1, 3, 2]] for _ in range(3)]",
    "[(heapq.heapify(h), h[0]) for h in [[5, 4, 3, 2, 1]]]", "heapq.nlargest(2, [3, 1, 2])",
    "heapq.nsmallest(2, 'cab', key=lambda c: -ord(c))", "list(heapq.merge([1, 4], [2, 3]))",
    "heapq.heappushpop([2, 3], 1)", "[heapq.heapreplace(h, 9) for h in [[1, 2]]]",
    "sorted([{'a': 2}, {'a': 1}], key=operator.itemgetter('a'))", "operator.itemgetter(0, 2)('abc')",
    "operator.attrgetter('year')(datetime.date(2026, 1, 2))",
    "operator.add(1, 2)",
    "functools.reduce(operator.mul, [1, 2, 3, 4])",
    "re.sub(r'\\d+', lambda m: str(int(m.group()) * 2), 'a1 b22 c3')", "re.sub('a', lambda m: 'b', 'aaa', count=2)",
    "re.sub(r'(a)(b)?', r'[\\1]', 'ab a')",
    "re.split(r'[,;]\\s*', 'a, b;c')", "re.findall(r'(\\w)(\\d)', 'a1b2')",
    "json.dumps({'d': datetime.date(2026, 1, 2), 's': {1}}, default=str)",
    "json.dumps([1, 'ü'], ensure_ascii=False)", "json.dumps({'b': 1, 'a': [None, True]}, indent=2, sort_keys=True)",
    "str(uuid.UUID('12345678123456781234567812345678'))", "str(uuid.uuid5(uuid.NAMESPACE_DNS, 'python.org'))",
    "str(uuid.uuid3(uuid.NAMESPACE_URL, 'x'))", "uuid.UUID('{12345678-1234-5678-1234-567812345678}').hex",
    "uuid.UUID(int=5).int", "uuid.UUID(int=5) == uuid.UUID(int=5)",
    "list(collections.OrderedDict([('b', 1), ('a', 2)]).items())", "collections.Counter('aab').most_common()",
    "datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC).isoformat()",
    "io.StringIO('a\\nb\\nc').readlines()", "io.StringIO('abc').read(2)", "[line for line in io.StringIO('a\\nb')]",
    "[(b.write('ab'), b.seek(1), b.write('X'), b.getvalue()) for b in [io.StringIO()]]",
    "[(b.write('x'), b.getvalue(), b.tell()) for b in [io.StringIO('abc')]]",
    "[(csv.writer(b).writerow(['a', 'b,c', 1]), b.getvalue()) for b in [io.StringIO()]]",
    "[(json.dump([1], b), b.getvalue())[1] for b in [io.StringIO()]]",
    "time.strftime('%Y', time.gmtime(0))", "callable(len) and callable(str) and not callable(3)",
    "max({'a': 1, 'b': 2}, key={'a': 1, 'b': 2}.get)", "list(map(str.strip, [' a ', 'b ']))",
    "sorted(['b', 'A'], key=str.lower)", "list(map('-'.join, ['ab', 'cd']))", "list(filter(str.isdigit, '1a2'))",
    "next(x for x in [1, 2] if x > 1)", "next((x for x in [] if x), 'none')",
]  # fmt: skip


def known(expression: str) -> Any:
    names = [module for module in WORKS if "." not in module]
    return eval(expression, {name: importlib.import_module(name) for name in names} | {"urllib": urllib})


def plain(found: Any) -> Any:
    if isinstance(found, list | tuple | set):
        return [plain(item) for item in found]
    return found


@pytest.mark.parametrize("expression", SAME)
async def test_the_same_as_in_cpython(session: Session, host: ScriptedHost, expression: str) -> None:
    before = "import urllib.parse\n" if "urllib" in expression else ""
    assert value(await run(session, host, before + expression, check=False)) == plain(known(expression))


async def test_statistics_agree_on_random_numbers(session: Session) -> None:
    make = random.Random(5)
    for _ in range(60):
        count = make.randint(2, 12)
        values = [
            make.choice([make.randint(-9, 9), make.uniform(-1e6, 1e6), make.uniform(0, 1e-9)])
            for _ in range(count)
        ]
        for name in ("mean", "stdev", "pstdev", "variance", "pvariance", "median", "quantiles"):
            expression = f"statistics.{name}({values!r})"
            assert value(await session.run(expression)) == known(expression), expression


async def test_textwrap_agrees_on_random_texts(session: Session) -> None:
    make = random.Random(5)
    for _ in range(150):
        text = "".join(
            make.choice("aé-- ,.\tb\nXy'") * make.randint(1, 3) for _ in range(make.randint(0, 60))
        )
        options = make.choice(["", ", max_lines=2", ", break_on_hyphens=False", ", break_long_words=False"])
        for expression in (
            f"textwrap.wrap({text!r}, {make.randint(8, 24)}{options})",
            f"textwrap.dedent({text!r})",
        ):
            assert value(await session.run(expression)) == known(expression), expression


async def test_heaps_agree_on_random_numbers(session: Session) -> None:
    make = random.Random(5)
    for _ in range(20):
        values = [make.randint(0, 50) for _ in range(make.randint(1, 30))]
        expression = f"[(heapq.heapify(h), [heapq.heappop(h) for _ in range({len(values)})]) for h in [{values!r}]][0][1]"
        assert value(await session.run(expression)) == sorted(values)


async def test_quoting_agrees_on_random_texts(session: Session) -> None:
    make = random.Random(5)
    for _ in range(80):
        text = "".join(make.choice("aZ09 %/?&=+~ü€🎬#;:@[]'\"\\") for _ in range(make.randint(0, 20)))
        for name in ("quote", "quote_plus", "unquote", "unquote_plus", "parse_qsl"):
            expression = f"urllib.parse.{name}({text!r})"
            assert value(await session.run("import urllib.parse\n" + expression)) == plain(
                known(expression)
            ), expression


async def test_uuids_are_random_and_well_formed(session: Session) -> None:
    made = value(await session.run("[str(uuid.uuid4()) for _ in range(100)]"))
    assert len(set(made)) == 100
    assert {uuid.UUID(text).version for text in made} == {4}


async def test_modules_work_inside_ui_functions(session: Session, host: ScriptedHost) -> None:
    code = 'd = Data(v=[1, 2])\nmount(lambda: Text(f\'{statistics.mean(d.v)} {textwrap.shorten("a b", 9)} {html.escape("<")}\'))'
    assert await run(session, host, code) == Finished(None)
    assert host.trees["m1"]["p"]["text"] == "1.5 a b &lt;"


async def test_a_name_of_the_agents_own_is_left_alone(session: Session, host: ScriptedHost) -> None:
    assert await run(session, host, "string = 'mine'\nhtml = 3") == Finished(None)
    assert await run(session, host, "string + 'x', html") == Finished(["minex", 3])
    assert await run(session, host, "def f(json):\n    return json\nf(4)") == Finished(4)


async def test_what_a_module_lacks_is_an_error(session: Session, host: ScriptedHost) -> None:
    failure = error(await run(session, host, "from textwrap import nothing", check=False))
    assert (failure.type, failure.message) == ("ImportError", "cannot import name 'nothing' from 'textwrap'")
    assert error(await run(session, host, "import urllib.request", check=False)).type == "ModuleNotFoundError"
    assert error(await run(session, host, "textwrap.nothing", check=False)).type == "AttributeError"


@pytest.mark.parametrize(
    ("code", "left"),
    [
        ("x = {'a': 1, 'b': 2}\ndel x['a']", {"b": 2}), ("x = [1, 2, 3, 4]\ndel x[1:3]", [1, 4]),
        ("x = [1, 2, 3, 4]\ndel x[-1], x[0]", [2, 3]), ("x = [1, 2, 3, 4]\ndel x[::2]", [2, 4]),
        ("x = [[1, 2], [3]]\ndel x[0][1]", [[1], [3]]), ("x = {(1, 2): 3}\ndel x[1, 2]", {}),
        ("x = [1, 2]\nif x:\n    del x[0]; x.append(5)", [2, 5]),
        ("x = [1, 2]\ndef f():\n    del x[\n        0\n    ]\nf()", [2]),
    ],
)  # fmt: skip
async def test_items_can_be_deleted(session: Session, code: str, left: Any) -> None:
    await session.run(code)
    assert await session.run("x") == Finished(left)


@pytest.mark.parametrize(
    "code", ["x = {}\ndel x['a']", "x = []\ndel x[0]", "x = 'abc'\ndel x[0]", "x = (1,)\ndel x[0]"]
)
async def test_deleting_what_is_not_there_fails_as_in_cpython(session: Session, code: str) -> None:
    with pytest.raises((KeyError, IndexError, TypeError)) as expected:
        exec(code, {})
    assert error(await session.run(code)).type == expected.type.__name__
