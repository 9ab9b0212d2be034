# The Python side of package sandbox: a zygote that forks workers, and the worker.
#
# The zygote runs no user code. It waits for orders on descriptor 3, forks a worker
# for each source, reaps it, and reports that. A worker installs the second
# seccomp filter before it reads its source. frame.go has the protocol of both.
#
# The globals of this file have a private copy of the builtins, and everything
# that is used after user code has run is bound to a name here. So code that
# replaces len or os.read only breaks its own calls.
#
# Importing json and ctypes takes longer than starting the interpreter, so this
# file uses the C modules below them.

import os
import sys
import _signal as signal
from _collections_abc import Coroutine
from gc import collect as collect_garbage, disable as disable_garbage, enable as enable_garbage, freeze as freeze_garbage
from _thread import _count as count_threads

try:
    from resource import getrusage
except ImportError:  # Windows
    getrusage = None

PROTOCOL = 1
HEADER = 9  # kind and id, after the length
MAX_FRAME = 16 << 20
MARK = "\x01"
Module = type(sys)
modules = sys.modules
os_read, os_write, os_exit = os.read, os.write, os._exit
has_timer = hasattr(signal, "setitimer")
TOP_LEVEL_AWAIT, ONLY_AST = 0x2000, 0x400
WORKER = "<proviso>"  # the file name of this code


class Late(BaseException):
    """The soft time limit of a call."""


class AskError(Exception):
    """The host could not answer ask_llm."""


class Missing(Exception):
    """A module lacks the function that is to be called."""

    def __init__(self, message, names):
        Exception.__init__(self, message)
        self.names = names


# ---- frames ----


class Channel:
    """Frames over a stream: 4 bytes of length, then kind, id and payload."""

    def __init__(self, source, sink):
        self.source, self.sink, self.pending = source, sink, b""

    def read(self):
        """Return kind, id and payload of the next frame. The end of the stream is
        the end of the worker."""
        while True:
            frame = self.take()
            if frame is not None:
                return frame
            self.fill()

    def fill(self):
        got = os_read(self.source, 65536)
        if not got:
            os_exit(0)
        self.pending += got

    def take(self):
        """Return the frame that has arrived as a whole, or None."""
        data = self.pending
        if len(data) < 4:
            return None
        size = int.from_bytes(data[:4], "big")
        if size < HEADER or size > MAX_FRAME:
            os_exit(4)
        missing = size + 4 - len(data)
        if missing > 65536:  # of a large frame, the rest at once
            parts = [data]
            while missing > 0:
                got = os_read(self.source, min(missing, 1 << 20))
                if not got:
                    os_exit(0)
                parts.append(got)
                missing -= len(got)
            data = self.pending = b"".join(parts)
        elif missing > 0:
            return None
        self.pending = data[size + 4 :]
        return data[4:5], data[5:13], data[13 : size + 4]

    def write(self, kind, id, payload):
        data = (HEADER + len(payload)).to_bytes(4, "big") + kind + id + payload
        n = os_write(self.sink, data)
        while n < len(data):
            data = data[n:]
            n = os_write(self.sink, data)


# ---- values ----


def unserializable(v):
    raise TypeError("Object of type %s is not JSON serializable" % type(v).__name__)


class Reading:
    """How JSON is read: as json.loads does."""

    strict, object_hook, object_pairs_hook, parse_float, parse_int = True, None, None, float, int
    parse_constant = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": -float("inf")}.__getitem__


try:
    from _json import encode_basestring_ascii as quote, make_encoder, make_scanner

    scan = make_scanner(Reading())

    def encode_plain(v):
        """Return what json.dumps(v, allow_nan=False) returns."""
        return "".join(make_encoder({}, unserializable, quote, None, ": ", ", ", False, False, False)(v, 0))

    encode_plain([{}])
except (ImportError, TypeError):  # another Python than CPython, or a later one
    import json

    scan, quote = json.JSONDecoder().scan_once, json.encoder.encode_basestring_ascii
    encode_plain = json.JSONEncoder(allow_nan=False).encode


def revive(v):
    """Undo the marks of JSON text with values that JSON lacks."""
    if type(v) is str:
        if not v.startswith(MARK):
            return v
        kind = v[1:2]
        if kind == "s":
            return v[2:]
        return {"n": float("nan"), "+": float("inf"), "-": -float("inf"), "0": -0.0}.get(kind)
    if type(v) is list:
        return [revive(x) for x in v]
    if type(v) is dict:
        return {k: revive(x) for k, x in v.items()}
    return v


def marked(v):
    """Mark the numbers that JSON lacks, and strings that look like marks."""
    if isinstance(v, str):
        return MARK + "s" + v if v.startswith(MARK) else v
    if isinstance(v, float):
        if v != v:
            return MARK + "n"
        if v in (float("inf"), -float("inf")):
            return MARK + ("+" if v > 0 else "-")
        return v
    if isinstance(v, (list, tuple)):
        return [marked(x) for x in v]
    if isinstance(v, dict):
        return {k: marked(x) for k, x in v.items()}
    return v


def encode(v):
    """Return the kind of frame and the payload of a result. What json.dumps
    refuses raises what it raises."""
    if v is True:
        return b"R", b"true"
    if v is False:
        return b"R", b"false"
    if v is None:
        return b"R", b"null"
    kind = type(v)
    if kind is str:
        return b"R", quote(v).encode()
    if kind is int or kind is dict or kind is list:
        pass
    elif callable(v) or kind is Module:
        return b"O", quote(kind.__name__).encode()
    try:
        return b"R", encode_plain(v).encode()
    except ValueError as e:
        if not str(e).startswith("Out of range float"):
            raise
    return b"V", encode_plain(marked(v)).encode()


# ---- standard output ----


class Output:
    """Takes what the code prints. The first bytes go to the host, which shows them
    if the worker dies; the rest is dropped."""

    encoding, errors, newlines, closed, mode, name = "utf-8", "backslashreplace", None, False, "w", "<stdout>"
    left = [8192]

    def __init__(self, binary=False):
        self.binary = binary
        if not binary:
            self.buffer = Output(True)

    def write(self, text):
        left = self.left
        if left[0] > 0:
            data = bytes(text[: left[0]]) if self.binary else text[: left[0]].encode("utf-8", "backslashreplace")
            left[0] -= len(data)
            try:
                os_write(2, data)
            except OSError:
                left[0] = 0
        return len(text)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def flush(self):
        pass

    def close(self):
        pass

    def isatty(self):
        return False

    def writable(self):
        return True

    def readable(self):
        return False

    def seekable(self):
        return False

    def fileno(self):
        return 1

    def reconfigure(self, **settings):
        pass


# ---- exceptions ----


def text_of(e):
    try:
        return str(e)[:2048]
    except Late:
        raise
    except BaseException:
        return "<the exception cannot be shown>"


def column_of(tb, line):
    """Return the column of the expression that raised, from 1; 0 if unknown."""
    try:
        for i, at in enumerate(tb.tb_frame.f_code.co_positions()):
            if i == tb.tb_lasti // 2:
                return len(line.encode()[: at[2]].decode("utf-8", "replace")) + 1
    except (AttributeError, TypeError):
        pass  # before Python 3.11, or without positions
    return 0


def place(e, source):
    """Return the stack of an exception in Python's form without the worker's own
    frames, and the line and column in the user's text."""
    frames, tb, line, column = [], e.__traceback__, 0, 0
    while tb is not None:
        code = tb.tb_frame.f_code
        if code.co_filename != WORKER:
            frames.append((code.co_filename, tb.tb_lineno, code.co_name))
            if code.co_filename == source.name:
                line, column = tb.tb_lineno, column_of(tb, source.line(tb.tb_lineno))
        tb = tb.tb_next
    if len(frames) > 20:
        frames[10:-10] = [None]
    stack = []
    for frame in frames:
        if frame is None:
            stack.append("  ...\n")
            continue
        stack.append('  File "%s", line %d, in %s\n' % frame)
        if frame[0] == source.name and source.line(frame[1]).strip():
            stack.append("    " + source.line(frame[1]).strip()[:200] + "\n")
    return "".join(stack)[:8192], line, column


def chain(e):
    """Yield an exception and what it came from, the nearest first."""
    seen = []
    while e is not None and not any(e is x for x in seen) and len(seen) < 10:
        yield e
        seen.append(e)
        reason = getattr(e, "reason", None)
        e = e.__cause__ or (reason if isinstance(reason, BaseException) else None) or (None if e.__suppress_context__ else e.__context__)


def denial(e, source):
    """Return what the sandbox refused, or None if e is about something else."""
    if not source.roots:
        return None
    for x in chain(e):
        name = getattr(x, "filename", None)
        shown = "" if name is None else ": %r" % (name,)
        if isinstance(x, OSError) and x.errno in (1, 13, 30):  # EPERM, EACCES, EROFS: the kernel's, not the code's own
            return text_of(x) if name is None else (x.strerror or "refused") + shown
        if isinstance(x, OSError) and type(x).__name__ == "gaierror" and not source.network:
            return "no network"
        if isinstance(x, FileNotFoundError) and type(name) is str:
            real = os.path.realpath(name)  # a link may lead out of a folder
            if os.path.isabs(name) or real != os.path.abspath(name):
                if not any(real == r or real.startswith(r.rstrip("/") + "/") for r in source.roots):
                    return "outside of what it was granted" + shown
    return None


def explain(e, source):
    """Return the payload of an error frame."""
    try:
        told = {"kind": "exception", "name": type(e).__name__, "message": text_of(e)}
        if isinstance(e, Late):
            return b'{"kind":"timeout"}'
        if isinstance(e, Missing):
            told.update(kind="missing", names=[str(n) for n in e.names][:100])
        elif isinstance(e, SyntaxError) and e.filename == source.name:
            told.update(kind="syntax", message=str(e.msg), line=e.lineno or 0, column=e.offset or len(source.line(e.lineno or 0)) + 1)
        elif any(isinstance(x, MemoryError) or isinstance(x, OSError) and x.errno == 12 for x in chain(e)):  # ENOMEM
            told["kind"] = "memory"
        elif isinstance(e, AskError):
            told["kind"] = "ask"
        elif isinstance(e, ImportError):
            told.update(kind="import", module=str(e.name or ""))
        if "line" not in told and told["kind"] != "missing":
            told["stack"], told["line"], told["column"] = place(e, source)
            refused = told["kind"] in ("exception", "import") and denial(e, source)
            if refused:
                told.update(kind="denied", refused=refused)
        return encode_plain(told).encode()
    except Late:
        return b'{"kind":"timeout"}'
    except MemoryError:
        return b'{"kind":"memory"}'
    except BaseException as second:
        return encode_plain({"kind": "exception", "name": "Exception", "message": "an exception that cannot be shown: " + str(type(second).__name__)}).encode()


# ---- sources ----


def names_bound(body, names):
    """Add the names that statements bind; return False if they cannot be known."""
    for node in body:
        kind = type(node).__name__
        if kind in ("FunctionDef", "AsyncFunctionDef", "ClassDef"):
            names.append(node.name)
        elif kind in ("Import", "ImportFrom"):
            for alias in node.names:
                if alias.name == "*":
                    return False
                names.append(alias.asname or alias.name.split(".")[0])
        elif kind == "Assign":
            for target in node.targets:
                if type(target).__name__ != "Name":
                    return False
                names.append(target.id)
        elif kind == "AnnAssign":
            if type(node.target).__name__ == "Name":
                names.append(node.target.id)
        elif kind not in ("Expr", "Pass", "Assert", "Delete", "AugAssign"):
            targets = [node.target] if kind == "For" else [item.optional_vars for item in node.items if item.optional_vars] if kind == "With" else []
            if any(type(target).__name__ != "Name" for target in targets):
                return False
            names += [target.id for target in targets]
            parts = [getattr(node, part, None) or [] for part in ("body", "orelse", "finalbody")]
            parts += [handler.body for handler in getattr(node, "handlers", [])]
            if kind not in ("If", "Try", "TryStar", "With", "For", "While") or not all(names_bound(p, names) for p in parts):
                return False
    return True


class Source:
    """What a source frame says, compiled."""

    def __init__(self, said):
        self.name, self.text, self.form = said["name"], said["text"], said["form"]
        self.params, self.entry, self.path = said["params"], said["entry"], said.get("path", "")
        self.keep, self.loop, self.network = said.get("keep", False), said.get("loop", False), said.get("network", False)
        self.timeout, self.load_timeout, self.max_reply = said["timeout"], said["load"], said["reply"]
        self.rss, self.roots = said.get("rss", 0), said.get("roots", [])
        self.lines = None
        self.function = self.json = None
        self.module_name = "_proviso_"
        if self.path:
            stem = os.path.splitext(os.path.basename(self.path))[0]
            self.module_name = stem if stem not in modules else "_proviso_" + stem

    def line(self, n):
        if self.lines is None:
            self.lines = self.text.split("\n")
        return self.lines[n - 1] if 0 < n <= len(self.lines) else ""

    def compile(self):
        name, text = self.name, self.text
        if self.form != "module" and "json" in text:  # inline code has it without an import
            import json

            self.json = json
        try:
            if self.form == "expression":
                bare = text.strip()
                self.code = compile("\n" * text[: text.index(bare)].count("\n") + bare, name, "eval", TOP_LEVEL_AWAIT, True)
            elif self.form == "body":
                self.code = self.compile_body()
            else:
                self.code = compile(text, name, "exec", 0, True)
        except (ValueError, UnicodeError, RecursionError, OverflowError) as e:  # a null byte, a lone surrogate, deep nesting
            raise SyntaxError(text_of(e), (name, 1, 0, ""))

    def compile_body(self):
        """Make the text the body of a function whose lines are those of the text."""
        text, name = self.text, self.name
        shifted = text.lstrip("\r\n")[:1] in (" ", "\t")
        try:
            tree = compile("if 1:\n" + text if shifted else text, name, "exec", ONLY_AST, True)
        except SyntaxError as e:
            if shifted and e.lineno:
                e.lineno -= 1
            raise
        body = tree.body
        if shifted:
            import ast

            body = tree.body[0].body
            ast.increment_lineno(tree, -1)
        for define in ("def", "async def"):
            whole = compile("%s main(%s): pass" % (define, ", ".join(p + "=None" for p in self.params)), name, "exec", ONLY_AST, True)
            if body:
                whole.body[0].body = body
            try:
                return compile(whole, name, "exec", 0, True)
            except SyntaxError as e:
                if define != "def" or "outside async" not in str(e.msg) and "outside of an async" not in str(e.msg):
                    raise

    def check(self):
        """Compile, and look for the entry among the names that the module binds."""
        self.compile()
        if self.form != "module":
            return
        names = []
        tree = compile(self.text, self.name, "exec", ONLY_AST, True)
        try:
            known = names_bound(tree.body, names) and not any(w in self.text for w in ("global", "exec(", "__getattr__", "setattr(", ":="))
        except RecursionError:  # such as a thousand elif
            known = False
        functions = [n.name for n in tree.body if type(n).__name__ in ("FunctionDef", "AsyncFunctionDef")]
        if not self.entry and len(functions) != 1:
            raise Missing("it is not said which function to call", functions)
        if known and self.entry and self.entry.split(".")[0] not in names:
            raise Missing("there is no function %s" % self.entry, functions)

    def fresh(self):
        """Return the globals of a new module, without the state of earlier calls."""
        module = Module(self.module_name)
        modules[self.module_name] = module
        space = module.__dict__
        space["ask_llm"] = ask_llm
        if self.form == "module":
            space["__file__"] = self.path or self.name
        elif self.json is not None:
            space["json"] = self.json
        return space

    def load(self):
        """Run a module, and find its function."""
        space = self.fresh()
        exec(self.code, space)
        entry = self.entry
        if not entry:
            own = [k for k, v in space.items() if getattr(v, "__code__", None) is not None and v.__code__.co_filename == self.name]
            if len(own) != 1:
                raise Missing("it is not said which function to call", own)
            entry = own[0]
        found = space
        for part in entry.split("."):
            found = found.get(part, self) if found is space else getattr(found, part, self)
            if found is self:
                raise Missing("there is no function %s" % entry, [k for k, v in space.items() if callable(v) and not k.startswith("_") and v is not ask_llm])
        if not callable(found):
            raise Missing("%s is no function" % entry, [k for k, v in space.items() if callable(v) and not k.startswith("_") and v is not ask_llm])
        return found

    def call(self, args):
        form = self.form
        if form == "module":
            function = self.function
            if function is None:
                function = self.load()
            if self.keep:
                self.function = function
            else:
                self.function = None
            return function(*args)
        space = self.fresh()
        if form == "body":
            exec(self.code, space)
            return space["main"](*args)
        params = self.params
        for i in range(len(params)):
            space[params[i]] = args[i] if i < len(args) else None
        return eval(self.code, space)


# ---- ask_llm ----


class Ask(Coroutine):
    """What ask_llm returns inside async code: a coroutine that gives a bool."""

    def __init__(self, args):
        self.args, self.steps = args, None

    def run(self):
        loop = worker.running_loop()
        if loop is None:
            return (yield self)
        return (yield from worker.ask_in_loop(loop, self.args))

    def send(self, value):
        if self.steps is None:
            self.steps = self.run()
        return self.steps.send(value)

    def throw(self, *what):
        if self.steps is None:
            self.steps = self.run()
        return self.steps.throw(*what)

    def close(self):
        if self.steps is not None:
            self.steps.close()

    def __await__(self):
        return self.run()

    def __bool__(self):
        raise TypeError("ask_llm was not awaited")


def ask_llm(prompt, response, question):
    """Ask the judge a yes/no question about a response. Inside async code it is
    awaited; elsewhere it returns the answer."""
    args = [x if type(x) is str else str(x) for x in (prompt, response, question)]
    if worker.driving or worker.running_loop() is not None:
        return Ask(args)
    return worker.ask(args)


# ---- the worker ----


class Worker:
    """Serves the calls of one source."""

    def __init__(self, channel):
        self.channel, self.id, self.source = channel, b"", None
        self.driving = self.armed = False
        self.asked = self.served = 0
        self.waiting = {}  # answers that the event loop waits for
        self.left = 0.0
        self.loop = None

    # The clock.

    def on_alarm(self, signum, frame):
        if self.armed:
            raise Late()

    def start_clock(self, seconds):
        self.armed = True
        if has_timer:
            signal.setitimer(signal.ITIMER_REAL, seconds)

    def stop_clock(self):
        """Return the seconds that were left."""
        self.armed = False
        return signal.setitimer(signal.ITIMER_REAL, 0)[0] if has_timer else 0.0

    # Questions to the host.

    def send_question(self, args):
        self.asked += 1
        self.channel.write(b"Q", self.id, encode_plain({"n": self.asked, "args": args}).encode())
        return self.asked

    def answer_of(self, payload):
        said = scan(payload.decode(), 0)[0]
        if "error" in said:
            return said["n"], AskError(said["error"])
        return said["n"], said["value"] is True

    def ask(self, args):
        n = self.send_question(args)
        left = self.stop_clock()
        kind, id, payload = self.channel.read()
        m, answer = self.answer_of(payload)
        if kind != b"A" or id != self.id or m != n:
            os_exit(4)
        self.start_clock(max(left, 0.001))
        if isinstance(answer, AskError):
            raise answer
        return answer

    def running_loop(self):
        asyncio = modules.get("asyncio.events")
        return asyncio._get_running_loop() if asyncio is not None else None

    def ask_in_loop(self, loop, args):
        future = loop.create_future()
        if not self.waiting:
            self.left = self.stop_clock()
            loop.add_reader(self.channel.source, self.on_answer, loop)
        self.waiting[self.send_question(args)] = future
        return (yield from future)

    def on_answer(self, loop):
        self.channel.fill()
        while self.waiting:
            frame = self.channel.take()
            if frame is None:
                return
            n, answer = self.answer_of(frame[2])
            if frame[0] != b"A" or frame[1] != self.id or n not in self.waiting:
                os_exit(4)
            future = self.waiting.pop(n)
            if not self.waiting:  # what comes next is no answer, and is not for the loop
                loop.remove_reader(self.channel.source)
                self.start_clock(max(self.left, 0.001))
            if future.cancelled():
                continue
            if isinstance(answer, AskError):
                future.set_exception(answer)
            else:
                future.set_result(answer)

    # Calls.

    def finish(self, coroutine):
        """Run a coroutine to its end: with an event loop if the code uses asyncio,
        else by hand, which is much cheaper."""
        if self.source.loop:
            return self.finish_in_loop(coroutine)
        steps = coroutine if hasattr(coroutine, "send") else coroutine.__await__()
        self.driving = True
        try:
            step, value = steps.send, None
            while True:
                try:
                    request = step(value)
                except StopIteration as end:
                    return end.value
                step = steps.send
                if type(request) is not Ask:
                    step, value = steps.throw, RuntimeError("this needs an event loop: import asyncio")
                    continue
                try:
                    value = self.ask(request.args)
                except AskError as e:
                    step, value = steps.throw, e
        finally:
            self.driving = False

    def finish_in_loop(self, coroutine):
        import asyncio

        if self.loop is None:
            self.loop = asyncio.new_event_loop()
        loop = self.loop
        asyncio.set_event_loop(loop)

        async def main():
            return await coroutine

        try:
            return loop.run_until_complete(main())
        finally:
            rest = asyncio.all_tasks(loop)
            if rest:
                for task in rest:
                    task.cancel()
                loop.run_until_complete(asyncio.gather(*rest, return_exceptions=True))
            if self.waiting:
                loop.remove_reader(self.channel.source)

    def attempt(self, seconds, work):
        """Run work under the clock and return the kind and payload of the reply."""
        try:
            try:
                self.start_clock(seconds)
                return work()
            except BaseException as e:
                reply = explain(e, self.source)
                return b"E", reply
            finally:
                self.stop_clock()
        except Late:
            self.stop_clock()
            return b"E", b'{"kind":"timeout"}'

    def attend(self, args):
        """Run a call. A worker that should be replaced replies in lower case."""
        kind, payload = self.attempt(self.source.timeout, lambda: self.run(args))
        return kind.lower() if self.worn() else kind, payload

    def run(self, args):
        value = self.source.call(args)
        if value is not True and value is not False and hasattr(type(value), "__await__"):
            value = self.finish(value)
        kind, payload = encode(value)
        if len(payload) > self.source.max_reply:
            return b"E", b'{"kind":"large"}'
        return kind, payload

    def worn(self):
        """Report whether the worker should be replaced after this call."""
        self.served += 1
        if count_threads() and not self.source.keep:
            return True
        if getrusage is None or not self.source.rss or self.served % 16 != 1:
            return False
        return getrusage(0).ru_maxrss * (1 if sys.platform == "darwin" else 1024) > self.source.rss

    def open_source(self, said):
        """Set the world up as the source may see it, and load a module."""
        os.environ.update(said.get("env", {}))
        for folder in reversed(said.get("path_first", [])):
            sys.path.insert(0, folder)
        if said.get("cwd"):
            os.chdir(said["cwd"])
        if has_timer:
            signal.signal(signal.SIGALRM, self.on_alarm)
        source = self.source
        if source.rss and getrusage is not None:
            source.rss += getrusage(0).ru_maxrss * 1024  # a process inherits the peak of the one that starts it

        def load():
            source.compile()
            if source.form == "module":
                source.function = source.load()
            return b"R", b"true"

        return self.attempt(source.load_timeout, load)

    def serve(self):
        channel = self.channel
        while True:
            kind, self.id, payload = channel.read()
            self.asked = 0
            if kind == b"C":
                args = scan(payload.decode(), 0)[0]
                reply = self.attend(args)
            elif kind == b"D":
                args = revive(scan(payload.decode(), 0)[0])
                reply = self.attend(args)
            elif kind == b"S":
                said = scan(payload.decode(), 0)[0]
                self.source = Source(said)
                reply = self.open_source(said)
            elif kind == b"K":
                self.source = Source(scan(payload.decode(), 0)[0])
                reply = self.attempt(self.source.load_timeout, lambda: (self.source.check(), (b"R", b"true"))[1])
            elif kind == b"P":
                reply = b"R", encode_plain(probe(scan(payload.decode(), 0)[0])).encode()
            else:
                os_exit(4)
            channel.write(reply[0], self.id, reply[1])


def probe(said):
    """Try what the sandbox must refuse; return what was not refused."""
    import _socket as socket

    def write(path):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
        os.unlink(path)

    def fork():
        if os.fork() == 0:
            os_exit(0)

    def connect(family, kind):
        socket.socket(family, kind).close()

    tries = [("read", lambda: open(said["file"], "rb").close()), ("parent", lambda: open(said["parent"], "rb").read())]
    tries += [("write", lambda path=path: write(path)) for path in said["write"]]
    if not said.get("network"):
        tries += [("socket", lambda kind=kind: connect(socket.AF_INET, kind)) for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM)]
    tries += [("socket", lambda: connect(socket.AF_UNIX, socket.SOCK_DGRAM)), ("fork", fork)]
    # A successful exec ends this worker, which the host counts as not refused.
    tries += [("exec", lambda path=path: os.execv(path, [path, "-c", ""])) for path in said["exec"]]
    through = []
    for name, attempt in tries:
        try:
            attempt()
        except (OSError, AttributeError):
            continue
        through.append(name)
    return through


# ---- the zygote ----


class Lockdown:
    """What a worker does to itself before it sees code of users."""

    def __init__(self, filter):
        from _ctypes import _SimpleCData, call_function, dlopen, dlsym

        class Bytes(_SimpleCData):
            _type_ = "z"  # char *

        self.filter = Bytes(bytes.fromhex(filter))
        length, address = len(filter) // 16, bytes(memoryview(self.filter).cast("B"))
        self.program = Bytes(length.to_bytes(8, sys.byteorder) + address)  # struct sock_fprog
        self.prctl, self.call = dlsym(dlopen(None, 2), "prctl"), call_function

    def apply(self, parent):
        call, prctl = self.call, self.prctl
        if call(prctl, (1, 9, 0, 0, 0)) != 0 or os.getppid() != parent:  # PR_SET_PDEATHSIG, SIGKILL
            os_exit(5)
        if call(prctl, (22, 2, self.program, 0, 0)) != 0:  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
            os_exit(5)


def become_worker(fd, errors, parent, lockdown):
    """Turn a forked zygote into a worker."""
    global worker
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(errors, 1, False)
    os.dup2(errors, 2, False)
    os.dup2(fd, 3, False)
    os.closerange(4, 1024)
    try:
        import faulthandler

        faulthandler.enable(2)
    except (ImportError, OSError, RuntimeError):
        pass
    if lockdown is not None:
        lockdown.apply(parent)
    else:
        os.setpgid(0, 0)  # so that what the code starts dies with it
    worker = Worker(Channel(3, 3))
    worker.serve()


class Zygote:
    """Forks workers on order. Everything it reads comes from the host."""

    def __init__(self, lockdown):
        import _socket as socket

        self.control = socket.socket(fileno=3)
        self.space = socket.CMSG_SPACE(8)
        self.lockdown, self.pid, self.workers, self.descriptors = lockdown, os.getpid(), {}, []
        self.channel = Channel(3, 3)
        self.channel.fill = self.fill

    def fill(self):
        data, extra, _, _ = self.control.recvmsg(65536, self.space)
        if not data:
            self.end()
        for _, _, packed in extra:
            for i in range(0, len(packed), 4):
                self.descriptors.append(int.from_bytes(packed[i : i + 4], sys.byteorder))
        self.channel.pending += data

    def kill(self, pid):
        try:
            os.kill(pid, 9)
        except OSError:
            pass  # it has just ended
        self.kill_started(pid)

    def kill_started(self, pid):
        """Kill what a worker has started, which may outlive it. In the sandbox it
        starts nothing."""
        if self.lockdown is None:
            try:
                os.killpg(pid, 9)
            except OSError:
                pass

    def end(self):
        self.kill_all()
        os_exit(0)

    def kill_all(self):
        for pid in self.workers:
            self.kill(pid)

    def fork(self, id, payload):
        for name in payload.decode().split():  # so that their import is paid for once
            if name not in modules:
                try:
                    __import__(name)
                    freeze_garbage()
                except ImportError:
                    pass
        fd, errors = self.descriptors[:2]
        del self.descriptors[:2]
        try:
            pid = os.fork()
        except OSError:
            pid = -1
        if pid == 0:
            try:
                enable_garbage()
                become_worker(fd, errors, self.pid, self.lockdown)
            finally:
                os_exit(5)
        os.close(fd)
        os.close(errors)
        if pid < 0:
            self.channel.write(b"X", id, b"-1")
        else:
            self.workers[pid] = id

    def reap(self):
        while self.workers:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            id = self.workers.pop(pid, None)
            if id is not None:
                self.kill_started(pid)
                self.channel.write(b"X", id, str(status).encode())

    def serve(self):
        """Obey the host. The end of the zygote, for any reason, ends its workers,
        which only the zygote knows."""
        try:
            self.obey_all()
        except OSError:  # the host is gone: it was killed before it read everything
            self.end()
        finally:
            self.kill_all()

    def obey_all(self):
        import select

        woken, wake = os.pipe()
        os.set_blocking(woken, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        ready = select.poll()
        ready.register(3, select.POLLIN)
        ready.register(woken, select.POLLIN)
        self.channel.write(b"H", bytes(8), b"%d" % PROTOCOL)
        while True:
            for fd, _ in ready.poll():
                if fd == woken:
                    os_read(woken, 4096)
                    self.reap()
                    continue
                self.channel.fill()
                frame = self.channel.take()
                while frame is not None:
                    self.obey(*frame)
                    frame = self.channel.take()

    def obey(self, kind, id, payload):
        if kind == b"F":
            self.fork(id, payload)
        elif kind == b"X":
            for pid, other in self.workers.items():
                if other == id:
                    self.kill(pid)
        else:
            os_exit(4)


def main(said):
    global worker
    sys.argv = [""]
    sys.path[:] = [p for p in sys.path if p]
    sys.path += [p for p in said.get("path", []) if p not in sys.path]
    sys.stdout = sys.__stdout__ = Output()
    sys.stderr = sys.__stderr__ = sys.stdout
    sys.dont_write_bytecode = True
    if "in" in said:  # a worker of its own, where nothing can be forked
        source, sink = os.dup(said["in"]), os.dup(said["out"])
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0, False)
        os.dup2(2, 1, False)
        os.close(null)
        if os.name == "nt":
            import msvcrt

            msvcrt.setmode(source, os.O_BINARY)
            msvcrt.setmode(sink, os.O_BINARY)
        if said.get("filter"):
            Lockdown(said["filter"]).apply(os.getppid())
        worker = Worker(Channel(source, sink))
        worker.channel.write(b"H", bytes(8), b"%d" % PROTOCOL)
        worker.serve()
    zygote = Zygote(Lockdown(said["filter"]) if said.get("filter") else None)
    collect_garbage()
    disable_garbage()
    freeze_garbage()
    zygote.serve()


worker = None
main(scan(sys.argv[2], 0)[0])
