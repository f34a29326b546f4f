/**
 * `kaged plugin call`: start a plugin in its cage, call it once, print the result, stop it.
 *
 * @module
 */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { HostError } from "../../core/errors/host_error.ts";
import type { Manifest } from "../../core/manifest/manifest.ts";
import type { Files, Runtime } from "../../core/ports/ports.ts";
import type { PluginInfo } from "../../core/supervisor/types.ts";
import type { Recording } from "../../core/wire/tape/record_tape.ts";
import type { WireTap } from "../../core/wire/wire_tap.ts";
import { didYouMean } from "../../core/values/nearest_word.ts";
import { unlessAborted } from "../interrupt.ts";
import { printError } from "../print_error.ts";
import { addRunOptions, parseObject, type RunFlags, type RunPlaces, withPlaces } from "../run_options.ts";
import type { Terminal } from "../terminal.ts";

interface CallFlags extends RunFlags {
  readonly timeout?: number;
  readonly quiet?: boolean;
  readonly record?: string;
}

/** Adds the command; `exit` takes the exit code of a call that was made and not recorded. */
export function addPluginCall(parent: Command, terminal: Terminal, exit: (code: number) => void): void {
  const command = parent.command("call")
    .summary("start a plugin, call it once, print the result")
    .description(
      "Starts a plugin in its cage, calls one method or tool, prints the result and stops the plugin.\n" +
        "Logs of the plugin go to standard error. No hooks are asked: a call of a folder is below the gate.",
    )
    .argument("<dir|name>", "the plugin's folder, or the name of an installed plugin")
    .argument("<method>", "a method the plugin declares, or a tool as <plugin>.<tool>")
    .argument("[json]", "params, a JSON object; - reads them from standard input")
    .option("--timeout <ms>", "time the call may take, such as 500, 500ms, 20s or 2m (default: 30s)", parseDuration)
    .option("--record <file>", "write the messages of the wire to a new file, for kaged replay")
    .option("-q, --quiet", "do not show the plugin's logs");
  addRunOptions(command)
    .addHelpText("after", EXAMPLES)
    .action(async (dir: string, method: string, json: string | undefined, flags: CallFlags) => {
      const params = json === undefined ? {} : paramsOf(json === "-" ? await terminal.readInput() : json);
      if (!await callOnce({ dir, method, params, flags }, terminal)) exit(1);
    });
}

const EXAMPLES = `
Examples:
  kaged plugin call . greetings.list
  kaged plugin call . greeter.greet '{"who": "Ada"}' --config '{"greeting": "Ahoy"}'
  kaged plugin call . greetings.list --record greetings.jsonl && kaged replay greetings.jsonl
  echo '{"who": "Ada"}' | kaged plugin call . greeter.greet - --json
With --json it prints { "result": … } or { "error": { "code", "message", "rpc"?, "hint"?, "data"? } }.`;

interface Call {
  readonly dir: string;
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly flags: CallFlags;
}

/** Makes a call, also when its tape cannot be written; returns false then. */
async function callOnce(call: Call, terminal: Terminal): Promise<boolean> {
  const { flags } = call;
  const home = await homeOf(call.dir, flags, terminal);
  const failures: HostError[] = [];
  const result = await withPlaces({ ...flags, ...home }, terminal, async (places) => {
    const tape = await callTape(flags.record, places.runtime, terminal, (error) => void failures.push(error));
    try {
      return await callIn(places, call, terminal, tape.tap);
    } finally {
      await tape.flush();
      for (const failure of failures) printError(failure, terminal, { json: false });
    }
  });
  terminal.out.json(flags.json ? { result: result ?? null } : result ?? null);
  return failures.length === 0;
}

type Tap = (plugin: PluginInfo) => WireTap | null;

/** Returns a recorder of the first process that is started, which records nothing without a path. */
async function callTape(
  path: string | undefined,
  runtime: Runtime,
  terminal: Terminal,
  onFailure: (error: HostError) => void,
): Promise<{ readonly tap: Tap; flush(): Promise<void> }> {
  if (path === undefined) return { tap: () => null, flush: () => Promise.resolve() };
  const { recordTape } = await import("../../core/wire/tape/record_tape.ts");
  let recording: Recording | null = null;
  return {
    tap(plugin) {
      if (recording) return null;
      return recording = recordTape({ path: resolve(terminal.cwd, path), plugin, runtime, onFailure });
    },
    flush: async () => await recording?.flush(),
  };
}

async function callIn(
  { runtime, home, projectDir, runtimes, limits, config, signal }: RunPlaces,
  { dir, method, params, flags }: Call,
  terminal: Terminal,
  tap: Tap,
): Promise<unknown> {
  const { createSupervisor } = await import("../../core/supervisor/supervisor.ts");
  const { SecretMask } = await import("../../core/values/secret_mask.ts");
  const { createStorage, isStorageAvailable } = await import("../../core/storage/storage.ts");
  await using storage = createStorage({ runtime, home });
  const secrets = new SecretMask();
  terminal.hide((value) => secrets.value(value));
  await using supervisor = createSupervisor(
    {
      runtime,
      home,
      runtimes,
      ...limits,
      storageAvailable: isStorageAvailable(runtime),
      onRequest: (client, request, audit) => storage.handle(client, request, audit),
      tap,
      onLog: ({ plugin, line }) => {
        if (!flags.quiet) terminal.err.line(terminal.err.paint.dim(`${plugin}: ${line}`));
      },
    },
    undefined,
    secrets,
  );
  const found = await findPlugin(dir, { home, files: runtime.files, terminal });
  const { instance, manifest } = await supervisor.register({ ...found, config, projectDir });
  refuseUnknown(method, manifest);
  await checkTool(method, params, manifest);
  await unlessAborted(supervisor.start(instance), signal);
  // An MCP server says what its tools take once it runs.
  if (manifest.runtime === "mcp_stdio") {
    await checkTool(method, params, { ...manifest, ...supervisor.plugin(instance) });
  }
  const timing = flags.timeout === undefined ? {} : { timeoutMs: flags.timeout };
  return await unlessAborted(supervisor.call(instance, method, params, { ...timing, signal }), signal);
}

/** An installed plugin is at home where the operator's plugins are, not in a home made for one call. */
async function homeOf(dir: string, { home }: CallFlags, terminal: Terminal): Promise<{ home?: string }> {
  const isFolder = await stat(resolve(terminal.cwd, dir)).then(() => true, () => false);
  if (home !== undefined || isFolder || !NAME.test(dir)) return {};
  const { homeFolder } = await import("../../core/files/home.ts");
  const { env, files } = await terminal.runtime();
  const own = homeFolder(undefined, env);
  return await files.info(own) === null ? {} : { home: own };
}

const NAME = /^[a-z][a-z0-9-]*$/;

/** Finds the folder of a plugin; that of an installed one must be as it was installed. */
async function findPlugin(
  dir: string,
  { home, files, terminal }: { readonly home: string; readonly files: Files; readonly terminal: Terminal },
): Promise<{ dir: string; hash?: string }> {
  const path = resolve(terminal.cwd, dir);
  if (!NAME.test(dir) || await files.info(path) !== null) return { dir: path };
  const { readLocalConfig } = await import("../../core/project/local_config.ts");
  const record = (await readLocalConfig(home, files)).records.get(dir);
  return record ? { dir: `${home}/plugins/${dir}`, hash: record.hash ?? "" } : { dir: path };
}

/** Says so before anything is started when the plugin declares no such method. */
function refuseUnknown(method: string, { name, methods, tools, runtime }: Manifest): void {
  if (runtime === "mcp_stdio") return; // It says what it has once it runs.
  const callable = ["ping", ...methods, ...tools.map((tool) => `${name}.${tool.name}`)];
  if (callable.includes(method)) return;
  throw new HostError("protocol.method_unknown", `Plugin "${name}" has no method "${method}"`, {
    data: { method, callable },
    hint: didYouMean(method, callable, `It has ${callable.join(", ")}`),
  });
}

/** Holds a tool's arguments against its schema, as a host does for an agent; a method's params are the plugin's to judge. */
async function checkTool(
  method: string,
  params: Record<string, unknown>,
  { name, tools }: { readonly name: string; readonly tools: PluginInfo["tools"] },
): Promise<void> {
  const tool = tools.find((one) => `${name}.${one.name}` === method);
  if (!tool) return;
  const [{ checkArguments }, { describeTool }] = await Promise.all([
    import("../../core/tools/check_arguments.ts"),
    import("../../core/tools/tool_registry.ts"),
  ]);
  await checkArguments(describeTool(method, tool), params);
}

function paramsOf(text: string): Record<string, unknown> {
  try {
    return parseObject(text);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new HostError("host.misuse", `Cannot use the params. ${error.message}`, {
      hint: `Pass a JSON object, such as '{"who": "Ada"}'`,
    });
  }
}

function parseDuration(text: string): number {
  const [, digits, unit = "ms"] = /^(\d{1,9})(ms|s|m)?$/.exec(text) ?? [];
  const ms = Number(digits) * { ms: 1, s: 1000, m: 60_000 }[unit as "ms" | "s" | "m"];
  if (!(ms > 0)) throw new InvalidArgumentError("It takes a time above zero, such as 500, 500ms, 20s or 2m");
  return ms;
}
