/**
 * `kaged plugin call`: start a plugin in its cage, call it once, print the result, stop it.
 *
 * @module
 */
import { speaksMcp } from "../../core/manifest/speaks_mcp.ts";
import { resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { HostError } from "../../core/errors/host_error.ts";
import type { Manifest } from "../../core/manifest/manifest.ts";
import type { Runtime } from "../../core/ports/ports.ts";
import type { PluginInfo } from "../../core/supervisor/types.ts";
import type { Recording } from "../../core/wire/tape/record_tape.ts";
import type { WireTap } from "../../core/wire/wire_tap.ts";
import { defined } from "../../core/values/plain_data.ts";
import { didYouMean } from "../../core/values/nearest_word.ts";
import { unlessAborted } from "../interrupt.ts";
import { type PluginPlace, withPlugin } from "../plugin_place.ts";
import { printError } from "../print_error.ts";
import { addRunOptions, parseObject, type RunFlags, type RunPlaces } from "../run_options.ts";
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
        "Logs of the plugin go to standard error. No hooks are asked: the call belongs to no agent, and is below the gate.",
    )
    .argument("<dir|name>", "the plugin's folder, such as . or ./greeter, or the name of an installed plugin")
    .argument("<method>", "a method the plugin declares, or a tool as <plugin>.<tool>")
    .argument("[json]", "params, a JSON object; - reads them from standard input")
    .option("--timeout <ms>", "time the call may take, such as 500, 500ms, 20s or 2m (default: 30s)", parseDuration)
    .option("--record <file>", "write the messages of the wire to a new file, for kaged replay")
    .option("-q, --quiet", "do not show the plugin's logs");
  addRunOptions(command)
    .addHelpText("after", EXAMPLES)
    .action(async (plugin: string, method: string, json: string | undefined, flags: CallFlags) => {
      const params = json === undefined ? {} : paramsOf(json === "-" ? await terminal.readInput() : json);
      if (!await callOnce({ plugin, method, params, flags }, terminal)) exit(1);
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
  /** As it was given: a folder or a name. */
  readonly plugin: string;
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly flags: CallFlags;
}

/** Makes a call, also when its tape cannot be written; returns false then. */
async function callOnce(call: Call, terminal: Terminal): Promise<boolean> {
  const { flags } = call;
  const failures: HostError[] = [];
  const result = await withPlugin(call.plugin, flags, terminal, async (places, found) => {
    const tape = await callTape(flags.record, places.runtime, terminal, (error) => void failures.push(error));
    try {
      return await callIn(places, { ...call, ...found }, terminal, tape.tap);
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
  { runtime, home, projectDir, runtimes, limits, config: given, signal }: RunPlaces,
  { dir, secrets, method, params, flags, ...place }: Call & PluginPlace,
  terminal: Terminal,
  tap: Tap,
): Promise<unknown> {
  const { createSupervisor } = await import("../../core/supervisor/supervisor.ts");
  const { SecretMask } = await import("../../core/values/secret_mask.ts");
  const { createStorage, isStorageAvailable } = await import("../../core/storage/storage.ts");
  const { readManifest } = await import("../../core/manifest/read_manifest.ts");
  const { runConfig } = await import("../../operator/run_config.ts");
  const { manifest } = await readManifest(dir, runtime.files);
  refuseUnknown(method, manifest);
  await checkTool(method, params, manifest);
  const config = await runConfig(manifest, { config: given, ...(secrets && { secrets }) }, runtime);
  await using storage = createStorage({ runtime, home });
  const mask = new SecretMask();
  terminal.hide((value) => mask.value(value));
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
    mask,
  );
  const { instance } = await supervisor.register({
    dir,
    ...defined({ hash: place.hash, withheld: place.withheld, added: place.added }),
    config,
    projectDir,
  });
  await unlessAborted(supervisor.start(instance), signal);
  // An MCP server says what its tools take once it runs.
  if (speaksMcp(manifest)) {
    await checkTool(method, params, { ...manifest, ...supervisor.plugin(instance) });
  }
  const timing = flags.timeout === undefined ? {} : { timeoutMs: flags.timeout };
  return await unlessAborted(supervisor.call(instance, method, params, { ...timing, signal }), signal);
}

/** Says so before anything is started when the plugin declares no such method. */
function refuseUnknown(method: string, { name, methods, tools, runtime }: Manifest): void {
  if (speaksMcp({ runtime })) return; // It says what it has once it runs.
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
