# Plugin SDK of @kaged/plugin-host for Python 3.9+. Do not edit: replace the file.
"""The plugin's side of the wire, in one module without dependencies that a plugin carries with it.

    from kaged_sdk import Plugin, PluginError

    plugin = Plugin("notes", "1.0.0")

    @plugin.tool
    def add(params, context):
        return {"added": params["text"], "agent": context.agent_path}

    plugin.start()

Name, version and everything that is offered must agree with kaged-plugin.yaml. Handlers run in threads, several at
once unless the plugin was made with `max_threads=1`; a handler that is an `async def` runs in the plugin's event loop.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import sys
import threading
import traceback
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime, timezone
from typing import Any, BinaryIO, Callable, Mapping, Optional, Sequence, Union

__all__ = ["CallContext", "Plugin", "PluginError", "Storage"]

API_VERSION = 1
MAX_LINE_BYTES = 4 * 1024 * 1024
# How long a shutdown waits for calls that still run; the host's own patience is 5 seconds or more.
LAST_CALLS_SEC = 1.0

FOLDER_VARIABLES = {"config": "KAGED_CONFIG_DIR", "project": "KAGED_PROJECT_DIR", "plugin": "KAGED_PLUGIN_DIR"}
LEVELS = ("debug", "info", "warn", "error")
HOOK_PREFIX = "kaged.hook."
METHOD_NAME = re.compile(r"(?!kaged\.|system\.)[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*){1,3}")
METHOD_RULE = "names have 2 to 4 parts like presets.list and do not start with kaged. or system."
SHORT_NAME = re.compile(r"[a-z][a-z0-9_]*")
SYSTEM_METHODS = {"config.update", "projects.activated", "projects.deactivated"}

SqlParams = Union[Sequence[Any], Mapping[str, Any]]
Handler = Callable[[Any, "CallContext"], Any]


class PluginError(Exception):
    """A failure with a code and data of its own, as it travels on the wire.

    A plugin's own codes are -32000 to -32099, and -32602 says that params are wrong.
    """

    def __init__(self, message: str, code: int = -32000, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class CallContext:
    """What a handler gets beside its params. Project, agent and session are set together or None together."""

    def __init__(self, given: Mapping[str, Any], config: Mapping[str, Any], report: Callable[[dict], None]) -> None:
        self.operator_id: Optional[str] = given.get("operator_id")
        self.project_id: Optional[str] = given.get("project_id")
        self.agent_path: Optional[str] = given.get("agent_path")
        self.session_id: Optional[str] = given.get("session_id")
        self.request_id: str = given.get("request_id") or ""
        # W3C trace context, when the host traces.
        self.traceparent: Optional[str] = given.get("traceparent")
        # The config for this call: the plugin's own, with the calling agent's overrides.
        self.config = config
        # Set when the host cancels the call or the plugin shuts down; `cancelled.wait(1)` is a sleep that heeds it.
        self.cancelled = threading.Event()
        self._report = report
        self._task: Any = None

    def progress(self, progress: float, total: Optional[float] = None, message: Optional[str] = None) -> None:
        """Tells the host how far the call is; each report gives it more time."""
        report = {"progress": progress, "total": total, "message": message}
        self._report({key: value for key, value in report.items() if value is not None})

    def check(self) -> None:
        """Raises a PluginError when the call was cancelled: for loops that may take long."""
        if self.cancelled.is_set():
            raise PluginError("The call was stopped")

    def _stop(self) -> None:
        self.cancelled.set()
        if self._task is not None:
            self._task.cancel()


class Storage:
    """The plugin's private tables, kept by the host. A refusal raises a PluginError.

    Each method waits for its answer. `storage.later` has the same methods and returns a Future in its place: for
    `on_config_update`, which runs before the host answers storage, and for `await asyncio.wrap_future(...)`.
    """

    def __init__(self, ask: Callable[[str, dict], Any], later: Optional["Storage"] = None) -> None:
        self._ask = ask
        self.later: "Storage" = later or self

    def query(self, sql: str, params: SqlParams = ()) -> Any:
        """Runs a SELECT: {"rows": [...], "columns": [...]}."""
        return self._ask("kaged.storage.query", {"sql": sql, "params": params})

    def exec(self, sql: str, params: SqlParams = ()) -> Any:
        """Runs any other statement in a transaction of its own: {"rows_affected": 1}, with RETURNING also "rows"."""
        return self._ask("kaged.storage.exec", {"sql": sql, "params": params})

    def batch(self, statements: Sequence[Mapping[str, Any]]) -> Any:
        """Runs statements ({"sql": ..., "params": ...}) in one transaction: {"results": [...]}.

        "sql" may be a prepared statement, unless it is a batch of `storage.later`.
        """
        prepared = [each["sql"] for each in statements if isinstance(each.get("sql"), Prepared)]
        if not prepared:
            return self._ask("kaged.storage.batch", {"statements": list(statements)})
        return _ask_prepared(
            self._ask, "kaged.storage.batch", prepared, lambda: {"statements": [_by_handle(each) for each in statements]}
        )

    def prepare(self, sql: str) -> "Prepared":
        """Returns a statement for many calls. Nothing is sent before its first use, which reports a slip in the SQL."""
        if self.later is self:
            raise PluginError("A prepared statement waits for its answers: use storage.prepare", -32602)
        return Prepared(self._ask, sql)

    def schema(self) -> Any:
        """Lists the plugin's tables and views."""
        return self._ask("kaged.storage.schema", {})


class Prepared:
    """A statement that the host knows by a short name, so that its text is sent and read once.

    It is prepared with its first use, and again when the host has forgotten it: after a change of the plugin's tables.
    """

    def __init__(self, ask: Callable[[str, dict], Any], sql: str) -> None:
        self.sql = sql
        self._ask = ask
        self._handle: Optional[str] = None

    def query(self, params: SqlParams = ()) -> Any:
        """Runs it as Storage.query does."""
        return self._run("kaged.storage.query", params)

    def exec(self, params: SqlParams = ()) -> Any:
        """Runs it as Storage.exec does."""
        return self._run("kaged.storage.exec", params)

    def _run(self, method: str, params: SqlParams) -> Any:
        return _ask_prepared(self._ask, method, [self], lambda: {"statement": self._handle, "params": params})


def _by_handle(statement: Mapping[str, Any]) -> Mapping[str, Any]:
    sql = statement.get("sql")
    if not isinstance(sql, Prepared):
        return statement
    return {"statement": sql._handle, "params": statement.get("params", ())}


def _ask_prepared(ask: Callable, method: str, statements: Sequence[Prepared], params: Callable[[], dict]) -> Any:
    """Asks with prepared statements; where the host knows one no longer it runs nothing, and they are prepared again."""
    for is_first in (True, False):
        for each in statements:
            if each._handle is None:
                each._handle = ask("kaged.storage.prepare", {"sql": each.sql})["statement"]
        try:
            return ask(method, params())
        except PluginError as error:
            code = error.data.get("code") if isinstance(error.data, dict) else None
            if not is_first or code != "storage.statement_unknown":
                raise
            for each in statements:
                each._handle = None


class Log:
    """The plugin's log: JSON lines on stderr. Lines below the level in KAGED_LOG_LEVEL are dropped."""

    def __init__(self) -> None:
        level = os.environ.get("KAGED_LOG_LEVEL", "info")
        self._least = LEVELS.index(level) if level in LEVELS else 0
        self._lock = threading.Lock()

    def debug(self, message: str, **fields: Any) -> None:
        """For who looks for a fault."""
        self._write("debug", message, fields)

    def info(self, message: str, **fields: Any) -> None:
        """What happens."""
        self._write("info", message, fields)

    def warn(self, message: str, **fields: Any) -> None:
        """What should not happen, and is dealt with."""
        self._write("warn", message, fields)

    def error(self, message: str, **fields: Any) -> None:
        """What went wrong."""
        self._write("error", message, fields)

    def _write(self, level: str, message: str, fields: dict) -> None:
        if LEVELS.index(level) < self._least:
            return
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        head = {"level": level, "msg": message, "time": now}
        try:
            text = json.dumps({**head, **fields, **head}, ensure_ascii=False, default=_loggable)
        except (TypeError, ValueError, RecursionError):
            text = json.dumps(head)
        try:
            with self._lock:
                _write_all(2, text.encode("utf-8", "backslashreplace") + b"\n")
        except OSError:
            pass  # Nobody reads the log: no reason to stop.


class Plugin:
    """A plugin: give it handlers with the decorators, then start it.

    `capabilities_used` is a subset of the manifest's capabilities. `max_threads` says how many plain handlers may run
    at once; further calls wait their turn.
    """

    def __init__(
        self,
        name: str,
        version: str,
        *,
        notifications: Sequence[str] = (),
        capabilities_used: Sequence[str] = (),
        max_threads: int = 8,
    ) -> None:
        self.name = name
        self.version = version
        self.log = Log()
        self.storage = Storage(self._ask_and_wait, Storage(self._ask))
        self._notifications = list(notifications)
        self._capabilities_used = list(capabilities_used)
        self._handlers: dict[str, Handler] = {}
        self._take_config: Callable[[dict], Any] = lambda config: None
        self._projects: dict = {}
        self._last_words: Callable[[], Any] = lambda: None
        self._config: dict = {}
        self._capabilities: list = []
        self._wire: Optional[_Wire] = None
        self._calls: dict[Any, CallContext] = {}
        self._asked: dict[int, Future] = {}
        self._held: Optional[list[bytes]] = []  # Lines that wait for the handshake; None once it is done.
        self._lock = threading.RLock()
        self._last_id = 0
        self._greeted = False
        self._host_gone = False
        self._ending = False
        self._exit_code = 0
        self._idle = threading.Condition(self._lock)
        self._ended = threading.Event()
        self._handler_pool = ThreadPoolExecutor(max_threads, "kaged-call")
        self._config_pool = ThreadPoolExecutor(1, "kaged-config")  # One config at a time, in the order they came.
        self._config_thread: Optional[int] = None
        self._loop: Any = None

    # What a plugin offers.

    def tool(self, name: Any = None) -> Any:
        """Offers a tool, by short name: agents see `<plugin>.<tool>`. Without a name it is the function's."""
        return self._decorator(name, self._add_tool)

    def method(self, name: str) -> Callable[[Handler], Handler]:
        """Offers a method, by full name: `presets.list`."""
        return self._decorator(name, self._add_method)

    def hook(self, name: Any = None) -> Any:
        """Subscribes to a hook, by short name: `on_session_start`. Without a name it is the function's."""
        return self._decorator(name, self._add_hook)

    def on_config_update(self, take: Callable[[dict], Any]) -> Callable[[dict], Any]:
        """Takes each new config; what it raises refuses the config (-32004) with its message."""
        self._take_config = take
        return take

    def on_project_activated(self, take: Callable[[str, dict], Any]) -> Callable[[str, dict], Any]:
        """Runs with each project that uses the plugin, once it is loaded or loaded again, and the plugin's config."""
        self._projects["projects.activated"] = take
        return take

    def on_project_deactivated(self, take: Callable[[str], Any]) -> Callable[[str], Any]:
        """Runs with a project that no longer uses the plugin; `on_shutdown` may follow at once."""
        self._projects["projects.deactivated"] = lambda project, config: take(project)
        return take

    def on_shutdown(self, last_words: Callable[[], Any]) -> Callable[[], Any]:
        """Runs when the host shuts the plugin down or goes away. Nothing registered with atexit does."""
        self._last_words = last_words
        return last_words

    @property
    def config(self) -> dict:
        """The config the plugin accepted last; empty before the first."""
        return self._config

    @property
    def capabilities(self) -> list:
        """The manifest's capabilities without those the operator withheld; empty before the host's first message."""
        return self._capabilities

    # What it does.

    def start(self, input: Optional[BinaryIO] = None, output: Optional[BinaryIO] = None) -> int:
        """Serves the host until it shuts the plugin down or goes away, then ends the process.

        What is printed goes to stderr from here on. With streams given the process is left alone and the code it
        would have ended with is returned: for tests.
        """
        if self._wire is not None:
            raise RuntimeError(f'Plugin "{self.name}" has been started already')
        self._wire = _Wire(input, output) if input and output else _Wire.of_process()
        threading.Thread(target=self._read, name="kaged-read", daemon=True).start()
        self._ended.wait()
        if not input:
            _flush_prints()
            os._exit(self._exit_code)  # Threads of handlers that never end would keep the interpreter alive.
        return self._exit_code

    def notify(self, notification: str, params: Optional[Mapping[str, Any]] = None) -> None:
        """Sends a notification; before the handshake is done it waits for it."""
        if not METHOD_NAME.fullmatch(notification):
            raise ValueError(f'Cannot send "{notification}": {METHOD_RULE}')
        self._send_when_ready({"method": notification, "params": dict(params or {})})

    def resolve_path(self, path: str) -> str:
        """Returns the absolute path of `config:/...`, `project:/...` or `plugin:/...`, as a config may name it."""
        found = re.fullmatch(r"(config|project|plugin):(/.*)", path, re.DOTALL)
        segments = [part for part in found[2].split("/") if part not in ("", ".")] if found else [".."]
        if not found or ".." in segments or "\0" in path:
            raise PluginError(f'Cannot find "{path}": paths look like config:/memory', -32602)
        root = os.environ.get(FOLDER_VARIABLES[found[1]])
        if not root:
            raise PluginError(f'Cannot find "{path}": nothing under {found[1]}:/ is granted', -32001)
        return "/".join([root.rstrip("/"), *segments]) or "/"

    # Handlers.

    def _decorator(self, name: Any, add: Callable[[str, Handler], None]) -> Any:
        if callable(name):  # Used without parentheses.
            add(name.__name__, name)
            return name

        def keep(handler: Handler) -> Handler:
            add(name or handler.__name__, handler)
            return handler

        return keep

    def _add_tool(self, name: str, handler: Handler) -> None:
        if not SHORT_NAME.fullmatch(name):
            raise ValueError(f'Cannot offer the tool "{name}": names look like add_note')
        self._add(f"{self.name}.{name}", handler)

    def _add_method(self, name: str, handler: Handler) -> None:
        if not METHOD_NAME.fullmatch(name):
            raise ValueError(f'Cannot offer the method "{name}": {METHOD_RULE}')
        if name in SYSTEM_METHODS:
            raise ValueError(f'Cannot offer the method "{name}": it is the host\'s')
        self._add(name, handler)

    def _add_hook(self, name: str, handler: Handler) -> None:
        if not SHORT_NAME.fullmatch(name):
            raise ValueError(f'Cannot subscribe to "{name}": names look like on_session_start')
        self._add(HOOK_PREFIX + name, handler)

    def _add(self, wire_name: str, handler: Handler) -> None:
        if wire_name in self._handlers:
            raise ValueError(f'Cannot offer "{wire_name}" twice')
        self._handlers[wire_name] = handler

    # What the host sends.

    def _read(self) -> None:
        code = 0
        try:
            for line in self._wire.lines():
                self._take(line)
        except _Oversize:
            self.log.error("The host sent a line of more than 4 MiB")
            code = 1
        except (OSError, ValueError):
            pass  # A stream that breaks has ended too.
        self._lose_host(code)

    def _lose_host(self, code: int) -> None:
        """Nothing more comes: nobody is left to answer, and the plugin ends."""
        with self._lock:
            self._host_gone = True
            asked, self._asked = self._asked, {}
        for future in asked.values():
            future.set_exception(_host_gone())
        self._end(code)

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line.decode("utf-8", "replace"), parse_constant=_no_constant)
        except (ValueError, RecursionError):
            return self._refuse(None, -32700, "Not JSON")
        if isinstance(message, list):
            return self._refuse(None, -32600, "A batch: send each message on a line of its own")
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return self._refuse(None, -32600, "Not a JSON-RPC 2.0 message")
        method, params = message.get("method"), message.get("params")
        has_id, request_id = "id" in message, message.get("id")
        if isinstance(method, str):
            if not has_id:
                return self._hear(method, params)
            if _is_id(request_id):
                return self._serve(request_id, method, params)
            return self._refuse(None, -32600, "An id is a number or a string")
        if has_id and _is_id(request_id) and ("result" in message or "error" in message):
            return self._settle(request_id, message)
        return self._refuse(request_id if _is_id(request_id) else None, -32600, "Neither a request nor a response")

    def _hear(self, method: str, params: Any) -> None:
        if method == "initialized":
            with self._lock:
                held, self._held = self._held or [], None
                for line in held:
                    self._write(line)
        elif method == "shutdown":
            self._end(0)
        elif method == "system.cancel" and isinstance(params, dict) and _is_id(params.get("id")):
            with self._lock:
                call = self._calls.get(params.get("id"))
            if call:
                call._stop()
        elif method in self._projects and isinstance(params, dict) and isinstance(params.get("project"), str):
            config = params.get("config") if isinstance(params.get("config"), dict) else {}
            self._handler_pool.submit(self._tell, method, params["project"], config)
        elif method == "system.rate_limited":
            self.log.warn("The host drops notifications: too many a second")

    def _serve(self, request_id: Any, method: str, params: Any) -> None:
        if method == "initialize":
            return self._greet(request_id, params)
        if method == "ping":
            return self._answer(request_id, {"status": "ok"})
        if method == "config.update":
            self._config_pool.submit(self._configure, request_id, params if isinstance(params, dict) else {})
            return None
        if method == "shutdown":
            return self._end(0, lambda: self._answer(request_id, {}))
        if self._held is not None:
            return self._refuse(request_id, -32002, f'Cannot call "{method}" before initialized')
        handler = self._handlers.get(method)
        if handler is None:
            return self._refuse(request_id, -32601, f'No method "{method}"')
        return self._call(request_id, handler, method, params)

    def _greet(self, request_id: Any, params: Any) -> None:
        if self._greeted:
            return self._refuse(request_id, -32600, "initialize comes once")
        self._greeted = True
        given = params.get("plugin_name") if isinstance(params, dict) else self.name
        if given != self.name:
            self.log.warn("Host and plugin disagree on the name", host=given, plugin=self.name)
        granted = params.get("capabilities") if isinstance(params, dict) else None
        self._capabilities = [one for one in granted if isinstance(one, str)] if isinstance(granted, list) else []
        return self._answer(request_id, {
            "name": self.name,
            "version": self.version,
            "api_version": API_VERSION,
            "methods": [name for name in self._handlers if not name.startswith(HOOK_PREFIX)],
            "notifications": self._notifications,
            "capabilities_used": self._capabilities_used,
            "features": ["cancel", "progress", "projects"],
        })

    def _tell(self, method: str, project: str, config: dict) -> None:
        try:
            self._finish(self._projects[method](project, config))
        except BaseException as error:  # Nobody waits for it.
            self.log.error(f"The handler of {method} failed", error=_message_of(error))

    def _configure(self, request_id: Any, config: dict) -> None:
        self._config_thread = threading.get_ident()
        try:
            self._finish(self._take_config(config))
            self._config = config
            self._answer(request_id, {})
        except BaseException as error:  # Whatever happens, the host gets an answer.
            self._refuse(request_id, -32004, _message_of(error), getattr(error, "data", None))
        finally:
            self._config_thread = None

    def _call(self, request_id: Any, handler: Handler, method: str, params: Any) -> None:
        given = params if isinstance(params, dict) else {}
        context, overrides = given.get("_context"), given.get("_config")
        config = {**self._config, **overrides} if isinstance(overrides, dict) else self._config
        call = CallContext(context if isinstance(context, dict) else {}, config, lambda report: self._report(
            request_id, call, report))
        with self._lock:
            self._calls[request_id] = call
        rest = params if isinstance(params, list) else {
            key: value for key, value in given.items() if key not in ("_context", "_config")}
        if inspect.iscoroutinefunction(handler):
            call._task = self._schedule(self._run_async(request_id, handler, method, rest, call))
            if call.cancelled.is_set():  # By a shutdown, meanwhile.
                call._task.cancel()
        else:
            self._handler_pool.submit(self._run, request_id, handler, method, rest, call)

    def _run(self, request_id: Any, handler: Handler, method: str, params: Any, call: CallContext) -> None:
        try:
            self._answer(request_id, self._finish(handler(params, call)))
        except BaseException as error:  # Also SystemExit: whatever happens, the host gets an answer.
            self._fail(request_id, method, error, call)

    async def _run_async(self, request_id: Any, handler: Any, method: str, params: Any, call: CallContext) -> None:
        try:
            self._answer(request_id, await handler(params, call))
        except BaseException as error:
            self._fail(request_id, method, error, call)

    def _fail(self, request_id: Any, method: str, error: BaseException, call: CallContext) -> None:
        if isinstance(error, PluginError) and (error.code == -32602 or -32099 <= error.code <= -32000):
            return self._refuse(request_id, error.code, str(error), error.data)
        if call.cancelled.is_set() and type(error).__name__ == "CancelledError":
            return self._refuse(request_id, -32000, "The call was stopped")
        self.log.error(f'Handler of "{method}" failed', error=error)
        return self._refuse(request_id, -32603, _message_of(error))

    def _finish(self, value: Any) -> Any:
        """Waits for what an `async def` returned."""
        return self._schedule(value).result() if inspect.iscoroutine(value) else value

    def _schedule(self, work: Any) -> Any:
        """Starts a coroutine in the plugin's one event loop."""
        import asyncio  # Most plugins need none.

        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="kaged-loop", daemon=True).start()
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _report(self, request_id: Any, call: CallContext, report: dict) -> None:
        with self._lock:
            if self._calls.get(request_id) is call:
                self._write(_line({"method": "system.progress", "params": {"id": request_id, **report}}))

    # What the plugin sends.

    def _answer(self, request_id: Any, result: Any) -> None:
        try:
            line = _line({"id": request_id, "result": result})
        except (TypeError, ValueError, RecursionError) as error:
            return self._refuse(request_id, -32603, f"The result cannot be written as JSON: {error}")
        if len(line) > MAX_LINE_BYTES:
            return self._refuse(request_id, -32603, "The result does not fit a line of 4 MiB")
        return self._close(request_id, line)

    def _refuse(self, request_id: Any, code: int, message: str, data: Any = None) -> None:
        error: dict = {"code": code, "message": message if len(message) <= 10_000 else message[:10_000] + "…"}
        line = _line({"id": request_id, "error": error})
        if data is not None:
            try:
                full = _line({"id": request_id, "error": {**error, "data": data}})
                line = full if len(full) <= MAX_LINE_BYTES else line
            except (TypeError, ValueError, RecursionError):
                pass  # The code and the message say the most.
        self._close(request_id, line)

    def _close(self, request_id: Any, line: bytes) -> None:
        with self._lock:
            self._write(line)
            self._calls.pop(request_id, None)
            self._idle.notify_all()

    def _ask(self, method: str, params: dict) -> Future:
        future: Future = Future()
        with self._lock:
            if self._host_gone:
                raise _host_gone()
            self._last_id += 1
            self._send_when_ready({"id": self._last_id, "method": method, "params": params})
            self._asked[self._last_id] = future
        return future

    def _ask_and_wait(self, method: str, params: dict) -> Any:
        if self._held is not None and (self._wire is None or self._config_thread == threading.get_ident()):
            raise PluginError("Storage answers once the handshake is done: use storage.later here", -32002)
        return self._ask(method, params).result()

    def _settle(self, request_id: Any, message: dict) -> None:
        with self._lock:
            future = self._asked.pop(request_id, None)
        error = message.get("error")
        if future is None:
            self.log.warn("The host answered what was not asked", id=request_id, error=error)
        elif isinstance(error, dict):
            code = error.get("code")
            code = code if isinstance(code, int) else -32603
            future.set_exception(PluginError(str(error.get("message")), code, error.get("data")))
        else:
            future.set_result(message.get("result"))

    def _send_when_ready(self, message: dict) -> None:
        line = _line(message)
        if len(line) > MAX_LINE_BYTES:
            raise PluginError("The message does not fit a line of 4 MiB", -32603)
        with self._lock:
            if self._held is not None:
                self._held.append(line)
            else:
                self._write(line)

    def _write(self, line: bytes) -> None:
        try:
            with self._lock:
                self._wire.write(line + b"\n")
        except (OSError, ValueError):
            self._lose_host(0)  # It has closed our stdout.

    # The end.

    def _end(self, code: int, then: Callable[[], None] = lambda: None) -> None:
        """Ends the plugin once, beside the reader: last words may still ask for storage."""
        with self._lock:
            if self._ending:
                return
            self._ending = True
        threading.Thread(target=self._finish_up, args=(code, then), name="kaged-end", daemon=True).start()

    def _finish_up(self, code: int, then: Callable[[], None]) -> None:
        self._exit_code = code
        with self._lock:
            for call in self._calls.values():
                call._stop()
            self._idle.wait_for(lambda: not self._calls, LAST_CALLS_SEC)
        try:
            self._finish(self._last_words())
        except BaseException as error:
            self.log.error("on_shutdown failed", error=error)
            self._exit_code = 1
        then()
        self._ended.set()


class _Oversize(Exception):
    """A line longer than the cap."""


class _Wire:
    """Lines in, lines out."""

    def __init__(self, input: BinaryIO, output: BinaryIO) -> None:
        self._input = input
        self._output = output

    @classmethod
    def of_process(cls) -> "_Wire":
        """Takes stdin and stdout for the wire; what else is printed, here or by a child process, goes to stderr."""
        sys.stdout.flush()
        wire = cls(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb", buffering=0))
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)
        sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")
        return wire

    def lines(self) -> Any:
        """Each whole line, without its end."""
        while True:
            line = self._input.readline(MAX_LINE_BYTES + 1)
            if line.endswith(b"\n"):
                yield line[:-1]
            elif len(line) > MAX_LINE_BYTES:
                raise _Oversize
            else:
                return  # The end; half a line is none.

    def write(self, data: bytes) -> None:
        """Writes all of it."""
        view = memoryview(data)
        while view:
            view = view[self._output.write(view):]
        self._output.flush()


def _line(message: dict) -> bytes:
    whole = {"jsonrpc": "2.0", **message}
    try:
        return json.dumps(whole, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")
    except UnicodeEncodeError:  # Half a surrogate pair can only be written as an escape.
        return json.dumps(whole, allow_nan=False, separators=(",", ":")).encode("ascii")


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view):]


def _flush_prints() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass  # Nobody reads it any more.


def _is_id(value: Any) -> bool:
    return value is None or isinstance(value, str) or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _host_gone() -> PluginError:
    return PluginError("The host is gone", -32603)


def _message_of(error: BaseException) -> str:
    if isinstance(error, (PluginError, ValueError)) and str(error):
        return str(error)
    return f"{type(error).__name__}: {error}".rstrip(": ")


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _loggable(value: Any) -> Any:
    if isinstance(value, BaseException):
        return "".join(traceback.format_exception(type(value), value, value.__traceback__))
    return str(value)
