/**
 * A new plugin in JavaScript: the SDK beside it, types through a comment.
 *
 * @module
 */
import type { PluginProgram, ScaffoldRuntime, SdkText } from "./plugin_program.ts";

/** How each runtime starts a file without obeying what else lies in the folder. */
const COMMANDS: Readonly<Record<Exclude<ScaffoldRuntime, "bash" | "python">, readonly string[]>> = {
  js: ["js"],
  deno: ["deno", "run", "-A", "--quiet", "--no-lock", "--no-config"],
  bun: ["bun", "--config=/dev/null", "--no-env-file", "--no-install"],
  node: ["node"],
};

/** Returns the program of a JavaScript plugin. */
export function jsPlugin(name: string, runtime: keyof typeof COMMANDS, sdk: SdkText): PluginProgram {
  return {
    command: [...COMMANDS[runtime], "./index.js"],
    capabilities: [],
    main: "index.js",
    files: {
      "index.js": { content: source(name), mode: 0o644 },
      "kaged_sdk.js": { content: sdk.js, mode: 0o644 },
      "kaged_sdk.d.ts": { content: sdk.dts, mode: 0o644 },
      // Node takes index.js for an ES module because of this file.
      "package.json": { content: packageJson(name), mode: 0o644 },
    },
  };
}

const packageJson = (name: string): string =>
  JSON.stringify({ name, version: "0.1.0", private: true, type: "module" }, null, 2) + "\n";

const source = (name: string): string =>
  String.raw`// @ts-check
import { createPlugin } from "./kaged_sdk.js";

const plugin = createPlugin({
  name: "@NAME@",
  version: "0.1.0",

  methods: {
    "greetings.list": () => ({ greetings: ["Hello", "Ahoy", "Good day"] }),
  },

  tools: {
    greet({ who }, { config }) {
      plugin.log.info("Greeting", { who }); // To stderr: stdout belongs to the protocol.
      return { text: ${'`${config.greeting ?? "Hello"}, ${who}!`'} };
    },
  },

  hooks: {
    on_session_start: (_, { config }) => ({ inject: ${'`Greet people with "${config.greeting ?? "Hello"}".`'} }),
  },
});

plugin.start();
`.replaceAll("@NAME@", name);
