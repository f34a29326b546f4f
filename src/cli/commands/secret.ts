/**
 * `kaged secret`: the operator's values for plugins, in `local.toml`. No command prints a value.
 *
 * @module
 */
import type { Command } from "commander";
import { HostError } from "../../core/errors/host_error.ts";
import type { Manifest } from "../../core/manifest/manifest.ts";
import type { ListedSecret } from "../../core/project/edit_secrets.ts";
import type { LocalConfig } from "../../core/project/local_config.ts";
import { operate, type Operator } from "../operator.ts";
import { notifyHosts } from "../../http/running_hosts.ts";
import { counted, type Terminal } from "../terminal.ts";

/** Adds `secret set`, `list` and `unset`. */
export function addSecret(parent: Command, terminal: Terminal): void {
  const secret = parent.command("secret")
    .summary("set the secrets of plugins")
    .description("Sets, lists and removes the operator's values for plugins, in local.toml. No value is ever printed.");
  const set = secret.command("set")
    .summary("set a secret")
    .description(
      "Asks for a value without showing it, or reads it from standard input, and writes it to local.toml, which only you\n" +
        "may read. Running hosts use it with their next request; their plugins go on.",
    )
    .argument("<package>", "the plugin's package, or the name of an installed plugin")
    .argument("<key>", "a field of its system_config_schema")
    .addHelpText("after", SET_EXAMPLES);
  operate(set, terminal, setSecret);
  const list = secret.command("list")
    .summary("show which secrets are set")
    .description("Shows the values that are set and those that installed plugins ask for: where each comes from.")
    .argument("[package]", "only those of this package or plugin")
    .addHelpText("after", LIST_EXAMPLES);
  operate(list, terminal, listAll);
  const unset = secret.command("unset")
    .summary("remove a secret")
    .description("Removes a value from local.toml.")
    .argument("<package>", "the plugin's package, or the name of an installed plugin")
    .argument("<key>", "the field")
    .addHelpText("after", '\nWith --json it prints { "package", "key", "changed", "hosts" }.');
  operate(unset, terminal, unsetSecret);
}

const SET_EXAMPLES = `
Examples:
  kaged secret set github api_token
  pass show github | kaged secret set github api_token
  echo 'file:/run/secrets/github' | kaged secret set github api_token
  echo 'cmd:pass show github' | kaged secret set github api_token

A value that begins with file: or cmd:, or that holds \${NAME}, is a reference: the host follows it when it reads the
value. Write literal: before a value that only looks like one.
With --json it prints { "package", "key", "changed", "hosts" }: whether it is new, and how many running hosts use it.`;

const LIST_EXAMPLES = `
Examples:
  kaged secret list
  kaged secret list github --json
With --json it prints { "secrets": [ { "package", "plugin", "key", "from", "hosts", "required" } ] }.`;

async function setSecret(operator: Operator, text: string, key: string): Promise<void> {
  const { packageOf, checkSecretKey } = await import("../../core/project/edit_secrets.ts");
  const local = await operator.local();
  const pkg = packageOf(text, local);
  const manifest = await installedManifest(pkg, local, operator);
  if (manifest) checkSecretKey(key, manifest);
  else operator.terminal.err.warning(`${pkg} is not installed, so that nothing says whether it takes ${key}`);
  const value = await readValue(`${key} of ${pkg}`, operator);
  await write(operator, { package: pkg, key }, { value, plugin: manifest?.name ?? null });
}

async function unsetSecret(operator: Operator, text: string, key: string): Promise<void> {
  const { packageOf } = await import("../../core/project/edit_secrets.ts");
  const local = await operator.local();
  const pkg = packageOf(text, local);
  if (!Object.hasOwn(local.secrets.get(pkg)?.values ?? {}, key)) {
    throw new HostError("secret.not_set", `local.toml holds no ${key} of ${pkg}`, {
      data: { package: pkg, key },
      hint: "See kaged secret list",
    });
  }
  const manifest = await installedManifest(pkg, local, operator);
  await write(operator, { package: pkg, key }, { value: null, plugin: manifest?.name ?? null });
}

/** Writes the value and has running hosts read it; a host that cannot use it goes on with the one before. */
async function write(
  { home, runtime, json, terminal: { out, err } }: Operator,
  at: { readonly package: string; readonly key: string },
  { value, plugin }: { readonly value: string | null; readonly plugin: string | null },
): Promise<void> {
  const { writeSecret } = await import("../../core/project/edit_secrets.ts");
  const changed = await writeSecret(home, at, value, runtime);
  const { pluginNameOf } = await import("../../core/project/locate.ts");
  const { notified, failures } = await notifyHosts(home, plugin ?? pluginNameOf(at.package), "reread");
  for (const { code, message } of failures) {
    err.warning(`A running host goes on with the value before [${code}]: ${message}`);
  }
  if (json) return out.json({ ...at, changed, hosts: notified - failures.length });
  const done = value === null ? "is removed" : changed ? "is set" : "is set, as before";
  const hosts = notified > failures.length ? `; ${counted(notified - failures.length, "running host")} took it up` : "";
  out.done(`${at.key} of ${at.package} ${done}${hosts}`);
}

/** Asks the person at the terminal, else reads standard input; the last line end is no part of the value. */
async function readValue(what: string, { ask, terminal }: Operator): Promise<string> {
  const value = ask.canAsk ? await ask.secret(what) : (await terminal.readInput()).replace(/\r?\n$/, "");
  if (value !== "") return value;
  throw new HostError("secret.empty", `There is no value for ${what}`, {
    hint: "Type it, or pass it on standard input; kaged secret unset removes one",
  });
}

async function listAll(operator: Operator, only: string | undefined): Promise<void> {
  const { listSecrets, packageOf } = await import("../../core/project/edit_secrets.ts");
  const { json, terminal: { out } } = operator;
  const local = await operator.local();
  const manifests = new Map<string, Manifest>();
  for (const name of local.records.keys()) {
    const manifest = await installedManifest(packageOf(name, local), local, operator);
    if (manifest) manifests.set(name, manifest);
  }
  const wanted = only === undefined ? null : packageOf(only, local);
  const secrets = listSecrets(local, manifests).filter((one) => wanted === null || one.package === wanted);
  if (json) return out.json({ secrets });
  if (secrets.length === 0) return out.line("No secret is set, and no installed plugin asks for one");
  for (const one of secrets) out.line(`${one.package}  ${one.key}  ${stateOf(one)}; ${useOf(one)}`);
}

function stateOf({ from, required }: ListedSecret): string {
  if (from !== null) return `set, from ${from}`;
  return required ? "not set, and required" : "not set";
}

function useOf({ plugin, hosts }: ListedSecret): string {
  if (plugin === null) return "its plugin is not installed";
  if (hosts?.length === 0) return `${plugin} cannot use it: its hosts are withheld`;
  if (hosts === null) return `${plugin} sees it`;
  return `used at ${hosts.join(", ")}, and ${plugin} never sees it`;
}

/** Returns the manifest of the installed plugin of a package; null when there is none, or none that can be read. */
async function installedManifest(
  pkg: string,
  { records }: LocalConfig,
  { home, runtime }: Operator,
): Promise<Manifest | null> {
  const { readManifest } = await import("../../core/manifest/read_manifest.ts");
  const { grantedManifest } = await import("../../core/manifest/withheld.ts");
  const record = [...records.values()].find(({ name, package: own = name, hash }) => own === pkg && hash !== undefined);
  if (!record) return null;
  return await readManifest(`${home}/plugins/${record.name}`, runtime.files).then(
    ({ manifest }) => grantedManifest(manifest, record.withheld, record.added),
    () => null,
  );
}
