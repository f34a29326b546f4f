/**
 * A home and plugins to install into it, for one test.
 *
 * @module
 */
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { createAudit } from "../../../src/core/audit/audit.ts";
import type { AuditEvent } from "../../../src/core/audit/events.ts";
import { applyInstall, type Consent } from "../../../src/packages/install/apply.ts";
import type { InstallPorts } from "../../../src/packages/install/install_ports.ts";
import { type InstallPlan, planInstall, type PlanRequest } from "../../../src/packages/install/plan.ts";
import { type LocalConfig, readLocalConfig } from "../../../src/core/project/local_config.ts";
import { scratchDir } from "../../support/scratch_dir.ts";

/** A home, and hands to work on it. */
export interface InstallStage {
  readonly root: string;
  readonly home: string;
  readonly ports: InstallPorts;
  readonly events: AuditEvent[];
  /** Makes a plugin's folder. */
  plugin(
    folder: string,
    fields?: Readonly<Record<string, unknown>>,
    files?: Readonly<Record<string, string>>,
  ): Promise<string>;
  /** Plans to install from a folder. */
  plan(dir: string, request?: Partial<PlanRequest>): Promise<InstallPlan>;
  /** Plans, grants everything and installs. */
  install(dir: string, consent?: Partial<Consent>): Promise<InstallPlan>;
  /** What local.toml says. */
  local(): Promise<LocalConfig>;
  /** Text of local.toml. */
  localText(): Promise<string>;
  /** Names in the store. */
  names(): Promise<string[]>;
}

/** Returns the manifest of a plugin that does nothing. */
export function manifestOf(fields: Readonly<Record<string, unknown>> = {}): string {
  const manifest = {
    name: "oh-my-pi",
    version: "1.4.2",
    kaged_api: 1,
    description: "Presets for the shell",
    command: ["js", "./index.js"],
    capabilities: [],
    ...fields,
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** Makes a home. */
export async function installStage(
  t: Parameters<typeof scratchDir>[0],
  more: Partial<InstallPorts> = {},
): Promise<InstallStage> {
  const root = await scratchDir(t);
  const home = join(root, "home");
  const runtime = await detectRuntime();
  const events: AuditEvent[] = [];
  const audit = createAudit({ clock: runtime.clock });
  audit.on((event) => events.push(event));
  const ports: InstallPorts = { runtime, home, audit, ...more };
  const stage: InstallStage = {
    root,
    home,
    ports,
    events,
    async plugin(folder, fields = {}, files = {}) {
      const dir = join(root, folder);
      const all = { "kaged-plugin.yaml": manifestOf(fields), "index.js": "// nothing\n", ...files };
      for (const [path, text] of Object.entries(all)) {
        await mkdir(dirname(join(dir, path)), { recursive: true });
        await writeFile(join(dir, path), text);
      }
      await chmod(join(dir, "index.js"), 0o644);
      return dir;
    },
    plan: (dir, request = {}) => planInstall({ dir, source: { kind: "path", path: dir }, ...request }, ports),
    async install(dir, consent = {}) {
      const plan = await stage.plan(dir);
      await applyInstall(plan, { hash: plan.hash, granted: plan.diff.added, projectId: null, ...consent }, ports);
      return plan;
    },
    local: () => readLocalConfig(home, runtime.files),
    localText: () => readFile(join(home, "local.toml"), "utf8"),
    names: async () => await runtime.files.list(join(home, "plugins")),
  };
  return stage;
}
