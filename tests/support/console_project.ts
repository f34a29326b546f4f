/**
 * A project such as an operator has, in a real host behind a real server: what the console is looked at with.
 *
 * @module
 */
import { cp, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { detectRuntime } from "../../src/adapters/default.ts";
import type { Host, HostOptions } from "../../src/host/types.ts";
import { type ServedHost, serveHost } from "../../src/http/serve_host.ts";
import type { Manifest } from "../../src/core/manifest/manifest.ts";
import { createHost } from "../../src/create_host.ts";
import { fixturePlugin } from "./fixture_plugins.ts";
import { putInstalled } from "./installed.ts";

/** A project that is served. */
export interface ConsoleProject extends AsyncDisposable {
  readonly host: Host;
  /** The project's folder. */
  readonly dir: string;
  /** The operator's folder. */
  readonly home: string;
  /** Where the console is. */
  readonly address: string;
  /** The address that signs in. */
  readonly link: string;
  readonly token: string;
  /** Stops listening, as a host that is ended does. */
  unplug(): Promise<void>;
  /** Listens again, at the same port. */
  plugIn(): Promise<void>;
}

/** `project.yaml` of it. */
export const YAML = `# Harbor: the assistant of the docks
id: harbor
primary:
  plugins:
    memory: # kept in git
      package: "@kaged/memory-markdown"
      config:
        max_injected: 8 # fewer is calmer
    compactor:
      package: "@kaged/smart-compactor"
    tone:
      package: "@harbor/reply-tone"
      config:
        style: brief
    clipper:
      package: "@harbor/web-clipper"
      source: ./plugins/web-clipper
      version: ^2
  compaction:
    delegate: { plugin: compactor }
    keep_last: 2
  subagents:
    researcher:
      plugins:
        memory:
          package: "@kaged/memory-markdown"
          hooks: [pre_compact, post_compact]
`;

/** A knob of each type. */
export const KNOBS: Manifest["knobs"] = {
  warmth: {
    type: "range",
    label: "Warmth",
    description: "How friendly answers sound.",
    min: 0,
    max: 1,
    step: 0.05,
    default: 0.6,
    binds_to: "config.warmth",
  },
  sentences: {
    type: "int_range",
    label: "Sentences",
    description: "Most sentences of an answer.",
    min: 1,
    max: 12,
    step: 1,
    default: 4,
    binds_to: "config.sentences",
  },
  style: {
    type: "enum",
    label: "Style",
    values: ["brief", "full", "poem"],
    labels: { brief: "Brief", full: "In full", poem: "As a poem" },
    default: "full",
    binds_to: "config.style",
  },
  greet: { type: "boolean", label: "Greet first", default: true, binds_to: "config.greet" },
  signature: {
    type: "text",
    label: "Signature",
    description: "Letters and spaces only.",
    pattern: "^[A-Za-z ]*$",
    max_length: 40,
    default: "",
    binds_to: "config.signature",
  },
  house_rules: {
    type: "multiline",
    label: "House rules",
    description: "Put before every answer.",
    max_length: 400,
    default: "Berths first.\nNever promise a crane.",
    binds_to: "config.house_rules",
  },
  model: {
    type: "model_alias",
    label: "Model",
    description: "Which model rewrites the answer.",
    filter: "fast",
    default: null,
    binds_to: "config.model",
  },
  glossary: {
    type: "path",
    label: "Glossary",
    description: "Words to prefer.",
    prefixes: ["project:"],
    default: "project:/glossary.md",
    binds_to: "config.glossary",
  },
};

/** Description of the plugin that waits for consent: a plugin's markup must be shown as text. */
export const CLIPPER: Partial<Manifest> = {
  name: "web-clipper",
  version: "2.1.0",
  description: "Saves pages as notes. <b>Trusted</b> <img src=x onerror=document.title='taken'>",
  author: "Harbor tools",
  license: "MIT",
  homepage: "https://harbor.example/clipper",
  hooks: ["pre_compact"],
  tools: [{ name: "clip", description: "Saves a page", parameters_schema: { type: "object" } }],
  capabilities: [
    "read:fs:project:/notes",
    "write:fs:project:/notes",
    "exec:git:plugin:/",
    "net:*",
    "kaged:storage:write",
  ],
};

/** More plugins of the primary agent: key → fixture and manifest. */
export type MorePlugins = Readonly<Record<string, { readonly fixture: string; readonly manifest: Partial<Manifest> }>>;

const property = { style: "string", greet: "boolean", warmth: "number", sentences: "integer" } as Record<
  string,
  string
>;
const TONE: Partial<Manifest> = {
  name: "reply-tone",
  version: "1.4.2",
  description: "Gives answers <i>one</i> voice",
  capabilities: ["kaged:storage:write"],
  config_schema: {
    type: "object",
    properties: Object.fromEntries(
      Object.keys(KNOBS).map((name) => [
        name,
        name === "model" ? { type: ["string", "null"] } : { type: property[name] ?? "string" },
      ]),
    ),
    additionalProperties: false,
  },
  knobs: KNOBS,
};

/** Makes and serves the project: `await using project = await consoleProject()`. */
export async function consoleProject(
  { more = {}, installed, config, ...options }: Partial<HostOptions> & {
    readonly more?: MorePlugins;
    /** `config.toml`. */
    readonly config?: string;
    /** The version of {@link CLIPPER} that the project has already: what differs, and whether it may run. */
    readonly installed?: { readonly manifest?: Partial<Manifest>; readonly enabled: boolean };
  } = {},
): Promise<ConsoleProject> {
  const runtime = await detectRuntime();
  const root = await realpath(await mkdtemp(join(tmpdir(), "kaged-console-")));
  const [home, dir] = [join(root, "home"), join(root, "harbor")];
  await mkdir(join(home, "memory"), { recursive: true, mode: 0o700 });
  await mkdir(join(dir, "plugins"), { recursive: true });
  await mkdir(join(dir, "notes"));
  if (config !== undefined) await writeFile(join(home, "config.toml"), config);
  const declared = Object.keys(more).map((key) => `    ${key}:\n      package: "@harbor/${key}"\n`).join("");
  await writeFile(join(dir, "project.yaml"), YAML.replace("  compaction:\n", `${declared}  compaction:\n`));

  await using made = new AsyncDisposableStack();
  const folder = async (fixture: string, manifest: Partial<Manifest>): Promise<string> =>
    made.use(await fixturePlugin(fixture, { manifest })).dir;
  const shelved = async (name: string): Promise<string> => {
    const place = join(root, "shelf", name);
    await cp(fileURLToPath(new URL(`../../plugins/${name}`, import.meta.url)), place, { recursive: true });
    return place;
  };
  await cp(await folder("echo", CLIPPER), join(dir, "plugins/web-clipper"), { recursive: true });
  if (installed) {
    const { manifest, enabled } = installed;
    const record = `enabled = ${enabled}\npackage = "@harbor/web-clipper"\nprojects = ["harbor"]`;
    await putInstalled(home, "web-clipper", await folder("echo", { ...CLIPPER, ...manifest }), record);
  }
  const plugins: Record<string, string> = {
    "@kaged/memory-markdown": await shelved("memory-markdown"),
    "@kaged/smart-compactor": await shelved("smart-compactor"),
    "@harbor/reply-tone": await folder("echo", TONE),
  };
  for (const [key, { fixture, manifest }] of Object.entries(more)) {
    plugins[`@harbor/${key}`] = await folder(fixture, { name: key, ...manifest });
  }
  const host = await createHost({ project: dir, home, plugins, control: false, ...options });
  let served: ServedHost = await serveHost({ host, runtime, port: 0 });
  const { address, token } = served;
  await host.start();
  const rest = made.move();
  return {
    host,
    dir,
    home,
    address,
    link: `${address}/#token=${token}`,
    token,
    unplug: () => served.close(),
    async plugIn() {
      served = await serveHost({ host, runtime, port: Number(new URL(address).port) });
    },
    async [Symbol.asyncDispose]() {
      await served.close();
      await host.stop();
      await rest.disposeAsync();
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** A plugin whose every call is asked about, with {@link ASK_MAIL} as the operator's config. */
export const MAIL: MorePlugins = {
  mail: {
    fixture: "answers_hooks",
    manifest: {
      version: "1.2.0",
      description: "Sends mail",
      hooks: [],
      tools: [{
        name: "send",
        description: "Sends a mail",
        parameters_schema: {
          type: "object",
          properties: { to: { type: "string" }, urgent: { type: "boolean" } },
          required: ["to"],
        },
      }],
    },
  },
};
/** `config.toml` that asks for every call of {@link MAIL}. */
export const ASK_MAIL = '[[tool_rules]]\ntool = "mail.*"\ndecision = "ask"\n';

/** Compacts a window of the primary agent as a talk of some length would. */
export async function compactOnce(host: Host, session: string): Promise<void> {
  const said = [
    ["user", "We decided to move the north berth to Thursday. Please remember it."],
    ["assistant", "Noted: the north berth moves to Thursday. Decision: the pilot boat waits at pier 4."],
    ["user", "Where is the crane plan? We always keep it in docs/cranes.md."],
    ["assistant", "The crane plan is in docs/cranes.md; crane 2 is out of service until Monday."],
    ["user", "Is the tide table still open as a question?"],
    ["assistant", "Yes. Open question: who signs the tide table for December?"],
  ] as const;
  const messages = Array.from({ length: 4 }, () => said).flat().map(([role, content], at) => ({
    id: `${session}-${at}`,
    role,
    content: `${content} ${at}`,
  }));
  await host.openSession({ id: session }).start("You are the assistant of the docks.");
  await host.compact({ agent: "primary", session, messages, trigger: "threshold_crossed", targetTokens: 200 });
}
