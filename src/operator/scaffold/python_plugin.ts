/**
 * A new plugin in Python: the SDK beside it, the standard library and nothing else.
 *
 * @module
 */
import type { PluginProgram, SdkText } from "./plugin_program.ts";

/** Returns the program of a Python plugin. */
export function pythonPlugin(name: string, sdk: SdkText): PluginProgram {
  return {
    command: ["python3", "./plugin.py"],
    capabilities: [],
    main: "plugin.py",
    files: {
      "plugin.py": { content: source(name), mode: 0o644 },
      "kaged_sdk.py": { content: sdk.py, mode: 0o644 },
    },
  };
}

const source = (name: string): string =>
  String.raw`from kaged_sdk import Plugin

plugin = Plugin("@NAME@", "0.1.0")


@plugin.method("greetings.list")
def list_greetings(params, context):
    return {"greetings": ["Hello", "Ahoy", "Good day"]}


@plugin.tool
def greet(params, context):
    plugin.log.info("Greeting", who=params["who"])  # To stderr: stdout belongs to the protocol.
    return {"text": f"{context.config.get('greeting', 'Hello')}, {params['who']}!"}


@plugin.hook
def on_session_start(params, context):
    return {"inject": f'Greet people with "{context.config.get("greeting", "Hello")}".'}


plugin.start()
`.replaceAll("@NAME@", name);
