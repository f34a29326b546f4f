/**
 * A new plugin in Python: no SDK, the standard library only.
 *
 * @module
 */
import type { PluginProgram } from "./plugin_program.ts";

/** Returns the program of a Python plugin. */
export function pythonPlugin(name: string): PluginProgram {
  return {
    command: ["python3", "./plugin.py"],
    capabilities: [],
    main: "plugin.py",
    files: { "plugin.py": { content: source(name), mode: 0o644 } },
  };
}

const source = (name: string): string =>
  String.raw`"""A kaged plugin: one JSON-RPC message per line, in on stdin and out on stdout. Log to stderr."""

import json
import sys

NAME = "@NAME@"
config = {}


def greeting():
    return config.get("greeting", "Hello")


def initialize(params):
    return {
        "name": NAME,
        "version": "0.1.0",
        "api_version": 1,
        "methods": ["greetings.list"],
        "notifications": [],
        "capabilities_used": [],
    }


def config_update(params):
    config.clear()
    config.update(params)
    return {}


HANDLERS = {
    "initialize": initialize,
    "config.update": config_update,
    "ping": lambda params: {"status": "ok"},
    "greetings.list": lambda params: {"greetings": ["Hello", "Ahoy", "Good day"]},
    NAME + ".greet": lambda params: {"text": f"{greeting()}, {params['who']}!"},
    "kaged.hook.on_session_start": lambda params: {"inject": f'Greet people with "{greeting()}".'},
}


def answer(request):
    handler = HANDLERS.get(request["method"])
    if handler is None:
        return {"error": {"code": -32601, "message": "Method not found"}}
    try:
        return {"result": handler(request.get("params", {}))}
    except Exception as error:
        return {"error": {"code": -32000, "message": f"{type(error).__name__}: {error}"}}


for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "shutdown":
        break
    if "id" in message:  # A message without an id is a notification: no answer.
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer(message)}), flush=True)
`.replaceAll("@NAME@", name);
