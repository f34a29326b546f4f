/**
 * The official client at server-everything, directly or through `kaged mcp`, with every part of a client that a server
 * may ask for.
 *
 * @module
 */
import { execFile } from "node:child_process";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

// Loaded this way because Deno cannot find the types of these files, only the files.
const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
const { InMemoryTaskStore } = await import("@modelcontextprotocol/sdk/experimental/tasks");
const { CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema, ResultSchema } = await import(
  "@modelcontextprotocol/sdk/types.js"
);

const ROOT: string = fileURLToPath(new URL("../../", import.meta.url));

/** A message of a server, without its id. */
export interface Said {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** A connected client, and everything the server has said to it. */
export interface Peer extends AsyncDisposable {
  // deno-lint-ignore no-explicit-any
  readonly client: any;
  /** Notifications of the server, in order. */
  readonly heard: Said[];
  /** Requests of the server, in order. */
  readonly asked: Said[];
  /** Answers of the person at the client, for the next forms. Without one, the form is accepted. */
  readonly answers: object[];
  /** Roots of the client. */
  roots: { uri: string; name: string }[];
  /** Sends a request as it is: the client's own methods check what the server said of its tools. */
  send(method: string, params: object): Promise<unknown>;
  /** Resolves with the first notification of a method that `fits`, past or future; rejects after 20 seconds. */
  next(method: string, fits?: (params: Said["params"]) => boolean): Promise<Said["params"]>;
}

const CAPABILITIES = {
  sampling: {},
  elicitation: { form: {}, url: {} },
  roots: { listChanged: true },
  tasks: { list: {}, cancel: {}, requests: { sampling: { createMessage: {} }, elicitation: { create: {} } } },
};

/** Starts a program that is an MCP server on stdio, and connects to it. */
export async function connectPeer(
  { command, args, env }: {
    readonly command: string;
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  },
): Promise<Peer> {
  const taskStore = new InMemoryTaskStore();
  const client = new Client({ name: "everything", version: "1.0.0" }, {
    capabilities: CAPABILITIES,
    taskStore,
  });
  const waiting = new Set<() => void>();
  const peer: Peer = {
    client,
    heard: [],
    asked: [],
    answers: [],
    roots: [{ uri: "file:///home/ada/music", name: "Music" }],
    send: (method, params) => client.request({ method, params } as never, ResultSchema),
    next(method, fits = () => true) {
      const { promise, resolve, reject } = Promise.withResolvers<Said["params"]>();
      const look = (): void => {
        const found = peer.heard.find((said) => said.method === method && fits(said.params));
        if (found) resolve(found.params);
      };
      const timer = setTimeout(() => reject(new Error(`The server never sent ${method}`)), 20_000);
      waiting.add(look);
      look();
      return promise.finally(() => {
        clearTimeout(timer);
        waiting.delete(look);
      });
    },
    async [Symbol.asyncDispose]() {
      taskStore.cleanup();
      await client.close();
    },
  };
  answerRequests(peer);
  client.fallbackNotificationHandler = (
    { method, params = {} }: { method: string; params?: Said["params"] | undefined },
  ) => {
    peer.heard.push({ method, params });
    for (const look of waiting) look();
    return Promise.resolve();
  };
  const transport = new StdioClientTransport({ command, args: [...args], env: { ...env }, stderr: "ignore" });
  await client.connect(transport);
  return peer;
}

/** Answers as a client with a model, a person and roots does; as tasks where the server wants that. */
function answerRequests(peer: Peer): void {
  const { client } = peer;
  const handle = (schema: unknown, answer: () => unknown) =>
    // deno-lint-ignore no-explicit-any
    client.setRequestHandler(schema, async ({ method, params = {} }: any, extra: any) => {
      const { _meta, ...shown } = params;
      // The host's own question whether the server may ask: there is none without a host.
      if (params.requestedSchema?.properties?.decision) return { action: "accept", content: { decision: "allow" } };
      // The host says whose question it is: to the client, all come from kaged.
      const message = typeof shown.message === "string" ? shown.message.replace(/^everything asks: /, "") : undefined;
      peer.asked.push({ method, params: { ...shown, ...(message !== undefined && { message }) } });
      const result = answer();
      if (!params.task) return result;
      const task = await extra.taskStore.createTask({ ttl: params.task.ttl, pollInterval: 100 });
      await extra.taskStore.storeTaskResult(task.taskId, "completed", result);
      return { task };
    });
  handle(
    ElicitRequestSchema,
    () => peer.answers.shift() ?? { action: "accept", content: { name: "Ada", check: true } },
  );
  handle(ListRootsRequestSchema, () => ({ roots: peer.roots }));
  handle(CreateMessageRequestSchema, () => ({
    role: "assistant",
    content: { type: "text", text: "Sampled words" },
    model: "test-model",
  }));
}

/** Writes server-everything as a plugin: bundled into one file, for a cage has no node_modules. Returns its program. */
export async function writeEverything(dir: string): Promise<string> {
  const source = join(ROOT, "node_modules/@modelcontextprotocol/server-everything/dist");
  await mkdir(join(dir, "bin"), { recursive: true });
  const outfile = join(dir, "bin/server.mjs");
  const args = ["build", join(source, "transports/stdio.js"), "--target=node", "--format=esm"];
  await promisify(execFile)(join(ROOT, "node_modules/.bin/bun"), [
    ...args,
    `--outfile=${outfile}`,
    "--config=/dev/null",
  ], { cwd: ROOT });
  await cp(join(source, "docs"), join(dir, "docs"), { recursive: true });
  const manifest = {
    name: "everything",
    version: "1.0.0",
    kaged_api: 1,
    description: "The reference server of MCP",
    runtime: "mcp_stdio",
    command: ["js", "./bin/server.mjs"],
    capabilities: [],
  };
  await writeFile(join(dir, "kaged-plugin.yaml"), JSON.stringify(manifest));
  return outfile;
}

/** Writes a project whose primary has server-everything; returns the arguments of `kaged` that serve it. */
export async function everythingProject(root: string, plugin: string): Promise<string[]> {
  const [dir, home] = [join(root, "project"), join(root, "home")];
  await mkdir(dir);
  await mkdir(home, { mode: 0o700 });
  const project = { primary: { plugins: { everything: { package: "@test/everything" } } } };
  await writeFile(join(dir, "project.yaml"), JSON.stringify(project));
  const places = ["--project", dir, "--home", home, "--plugin", `@test/everything=${plugin}`];
  return ["mcp", ...places, "--quiet", "--no-hooks", "--names", "short", "--offer", "elicitation,sampling,roots"];
}
