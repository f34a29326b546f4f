"""A plugin without an SDK: one JSON-RPC message per line on stdin and stdout, logs on stderr."""

import collections
import json
import re
import sys

API_VERSION = 1
config = {"greeting": "Hello"}


class Refusal(Exception):
    """An error with a code of its own: -32000 to -32099, or -32602 for wrong params."""

    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.code = code
        self.data = data


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def log(text):
    print(text, file=sys.stderr, flush=True)


def initialize(params):
    return {
        "name": "hello-python",
        "version": "0.1.0",
        "api_version": API_VERSION,
        "methods": ["hello.greet", "hello-python.count_words"],
        "notifications": ["hello.greeted"],
        "capabilities_used": [],
    }


def update_config(params):
    greeting = params.get("greeting", "Hello")
    if not greeting:
        raise Refusal(-32004, "greeting is empty")
    config["greeting"] = greeting
    return {}


def greet(params):
    name = params.get("name")
    if not name:
        raise Refusal(-32602, "name is missing", {"field": "name"})
    send({"method": "hello.greeted", "params": {"name": name}})
    return {"text": f"{config['greeting']}, {name}!"}


def count_words(params):
    words = re.findall(r"\w+", params["text"].lower())
    return {"words": collections.Counter(words).most_common(params.get("top", 3)), "total": len(words)}


METHODS = {
    "initialize": initialize,
    "config.update": update_config,
    "ping": lambda params: {"status": "ok"},
    "hello.greet": greet,
    "hello-python.count_words": count_words,
}


def answer(message):
    """Returns the response to a request."""
    handler = METHODS.get(message["method"])
    if handler is None:
        return {"error": {"code": -32601, "message": f"No method \"{message['method']}\""}}
    try:
        return {"result": handler(message.get("params") or {})}
    except Refusal as refusal:
        error = {"code": refusal.code, "message": str(refusal)}
        return {"error": error if refusal.data is None else {**error, "data": refusal.data}}
    except Exception as error:  # Whatever happens, the host gets an answer.
        log(f"{message['method']} failed: {error!r}")
        return {"error": {"code": -32603, "message": str(error)}}


for line in sys.stdin:
    try:
        message = json.loads(line)
    except ValueError:
        message = None
    if not isinstance(message, dict):
        log("That was no message")
    elif "id" in message and "method" in message:
        send({"id": message["id"], **answer(message)})
    elif message.get("method") == "shutdown":
        break
