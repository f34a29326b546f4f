/**
 * What a client can do with server-everything, feature by feature. Each returns what the client sees, as data that can be
 * compared.
 *
 * @module
 */
import { deepStrictEqual } from "node:assert";
import type { Peer } from "./peer.ts";

/** One feature. */
export interface Feature {
  readonly name: string;
  see(peer: Peer): Promise<unknown>;
}

type Json = Readonly<Record<string, unknown>>;

const call = (peer: Peer, name: string, args: object = {}, options?: object): Promise<Json> =>
  peer.client.callTool({ name, arguments: args }, undefined, options);

/** A feature that is one call of a tool. */
const calling = (title: string, tool: string, args: object = {}): Feature => ({
  name: title,
  see: (peer) => call(peer, tool, args),
});

/** The error of something that must fail: its number, and its message where the server's own words count. */
async function failure(work: Promise<unknown>, { words = true } = {}): Promise<unknown> {
  try {
    return { answered: await work };
  } catch (error) {
    const { code, message, data } = error as { code?: unknown; message: string; data?: Json };
    // Each side that throws the official error puts the number before the message once more.
    const text = message.replace(/^(MCP error -\d+: )+/, "");
    return { code, ...(words && { message: text, elicitations: data?.elicitations }) };
  }
}

/** Tools that a client has only with tasks of its own: the row of the names says so. */
const NAMES_ONLY = ["trigger-sampling-request-async", "trigger-elicitation-request-async"];

/** One field of each tool as it is listed. */
const listed = (field: string): Feature => ({
  name: `tools/list: ${field}`,
  async see({ client }) {
    const { tools } = await client.listTools() as { tools: Json[] };
    if (field === "name") return tools.map(({ name }) => name);
    return tools.filter(({ name }) => !NAMES_ONLY.includes(String(name))).map((
      tool,
    ) => [tool.name, tool[field] ?? null]);
  },
});

/** A tool that asks the client: what it was asked, and what came of it. */
const asking = (
  title: string,
  tool: string,
  { answer, args = {} }: { answer?: object; args?: object } = {},
): Feature => ({
  name: title,
  async see(peer) {
    if (answer) peer.answers.push(answer);
    const before = peer.asked.length;
    const result = await call(peer, tool, args).catch((error) => ({ error: String(error) }));
    return { asked: peer.asked.slice(before), result };
  },
});

const TEXT_1 = "demo://resource/dynamic/text/1";
const GZIPPED = { name: "a.txt.gz", data: "data:text/plain,hello" };

const HANDSHAKE: readonly Feature[] = [
  { name: "server name, title and version", see: ({ client }) => Promise.resolve(client.getServerVersion()) },
  { name: "capabilities", see: ({ client }) => Promise.resolve(client.getServerCapabilities()) },
  { name: "instructions", see: ({ client }) => Promise.resolve(client.getInstructions()) },
  { name: "ping", see: ({ client }) => client.ping() },
];

const TOOLS: readonly Feature[] = [
  ...["name", "title", "description", "inputSchema", "outputSchema", "annotations", "execution", "icons"].map(listed),
  calling("text", "echo", { message: "hello" }),
  calling("annotations of content, image", "get-annotated-message", { messageType: "error", includeImage: true }),
  calling("image", "get-tiny-image"),
  calling("resource links", "get-resource-links", { count: 3 }),
  calling("embedded text resource", "get-resource-reference", { resourceType: "Text", resourceId: 1 }),
  calling("embedded binary resource", "get-resource-reference", { resourceType: "Blob", resourceId: 2 }),
  calling("structured content", "get-structured-content", { location: "Chicago" }),
  calling("numbers as arguments", "get-sum", { a: 40, b: 2 }),
  {
    name: "environment of the server",
    async see(peer) {
      const { content } = await call(peer, "get-env") as unknown as { content: { text: string }[] };
      return Object.keys(JSON.parse(content[0]!.text)).sort();
    },
  },
  { name: "a tool that does not exist", see: (peer) => failure(call(peer, "no-such-tool"), { words: false }) },
  { name: "arguments that the tool refuses", see: (peer) => failure(call(peer, "get-sum", { a: "x" })) },
  {
    name: "progress",
    async see(peer) {
      const progress: unknown[] = [];
      const onprogress = (report: unknown) => progress.push(report);
      const result = await call(peer, "trigger-long-running-operation", { duration: 2, steps: 4 }, { onprogress });
      // Reports that come together with the result are dropped by the client.
      return { progress: progress.slice(0, 1), result };
    },
  },
  {
    name: "cancellation",
    async see(peer) {
      const controller = new AbortController();
      const started = Promise.withResolvers<void>();
      const options = { signal: controller.signal, onprogress: () => started.resolve() };
      const waiting = failure(call(peer, "trigger-long-running-operation", { duration: 20, steps: 400 }, options));
      await started.promise;
      controller.abort("Enough");
      return { ended: await waiting, next: await call(peer, "echo", { message: "on" }) };
    },
  },
];

const RESOURCES: readonly Feature[] = [
  {
    name: "resources/list",
    async see({ client }) {
      const { resources, ...rest } = await client.listResources() as { resources: Json[] };
      // The server lists its files in the order in which its runtime finds them.
      return { ...rest, resources: resources.toSorted((a, b) => String(a.uri) < String(b.uri) ? -1 : 1) };
    },
  },
  { name: "resources/templates/list", see: ({ client }) => client.listResourceTemplates() },
  { name: "resources/read: text of a template", see: ({ client }) => client.readResource({ uri: TEXT_1 }) },
  {
    name: "resources/read: binary of a template",
    see: ({ client }) => client.readResource({ uri: "demo://resource/dynamic/blob/2" }),
  },
  {
    name: "resources/read: a listed file",
    see: ({ client }) => client.readResource({ uri: "demo://resource/static/document/architecture.md" }),
  },
  {
    name: "resources/read: a resource that does not exist",
    see: ({ client }) => failure(client.readResource({ uri: "demo://resource/none" }), { words: false }),
  },
  {
    name: "resources/subscribe, updates, unsubscribe",
    async see(peer) {
      const seen = [await peer.client.subscribeResource({ uri: TEXT_1 })];
      seen.push(await call(peer, "toggle-subscriber-updates"));
      seen.push(await peer.next("notifications/resources/updated", ({ uri }) => uri === TEXT_1));
      seen.push(await call(peer, "toggle-subscriber-updates"));
      seen.push(await peer.client.unsubscribeResource({ uri: TEXT_1 }));
      return seen;
    },
  },
  {
    name: "resources/list_changed, a resource of the session",
    async see(peer) {
      peer.heard.length = 0;
      const link = await call(peer, "gzip-file-as-resource", { ...GZIPPED, outputType: "resourceLink" });
      await peer.next("notifications/resources/list_changed");
      const { resources } = await peer.client.listResources() as { resources: Json[] };
      const uri = "demo://resource/session/a.txt.gz";
      const { contents } = await peer.client.readResource({ uri });
      return { link, listed: resources.filter((one) => one.uri === uri), contents: shapeOf(contents) };
    },
  },
  {
    name: "a resource in a result",
    async see(peer) {
      const { content } = await call(peer, "gzip-file-as-resource", { ...GZIPPED, outputType: "resource" });
      return shapeOf(content);
    },
  },
];

/** Data without the bytes of blobs: runtimes compress differently. */
function shapeOf(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, part) => key === "blob" ? typeof part : part));
}

const completing = (title: string, params: object): Feature => ({
  name: `completion/complete: ${title}`,
  see: ({ client }) => client.complete(params),
});

const PROMPTS: readonly Feature[] = [
  { name: "prompts/list", see: ({ client }) => client.listPrompts() },
  { name: "prompts/get: without arguments", see: ({ client }) => client.getPrompt({ name: "simple-prompt" }) },
  {
    name: "prompts/get: with arguments",
    see: ({ client }) => client.getPrompt({ name: "args-prompt", arguments: { city: "Chicago", state: "Illinois" } }),
  },
  {
    name: "prompts/get: with a resource in it",
    see: ({ client }) =>
      client.getPrompt({ name: "resource-prompt", arguments: { resourceType: "Text", resourceId: "1" } }),
  },
  {
    name: "prompts/get: an argument is missing",
    see: ({ client }) => failure(client.getPrompt({ name: "args-prompt", arguments: {} })),
  },
  {
    name: "prompts/get: a prompt that does not exist",
    see: ({ client }) => failure(client.getPrompt({ name: "no-such-prompt" }), { words: false }),
  },
  completing("argument of a prompt", {
    ref: { type: "ref/prompt", name: "completable-prompt" },
    argument: { name: "department", value: "E" },
  }),
  completing("with other arguments", {
    ref: { type: "ref/prompt", name: "completable-prompt" },
    argument: { name: "name", value: "" },
    context: { arguments: { department: "Sales" } },
  }),
  completing("variable of a template", {
    ref: { type: "ref/resource", uri: "demo://resource/dynamic/text/{resourceId}" },
    argument: { name: "resourceId", value: "7" },
  }),
];

const LOGGING: readonly Feature[] = [
  {
    name: "logging/setLevel and log messages",
    async see(peer) {
      const set = await peer.client.setLoggingLevel("debug");
      peer.heard.length = 0;
      const started = await call(peer, "toggle-simulated-logging");
      const { level, data } = await peer.next(
        "notifications/message",
        ({ data }) => /-level message|level-message/.test(String(data)),
      );
      const stopped = await call(peer, "toggle-simulated-logging");
      // Which of the messages comes is up to chance.
      return { set, started, message: String(data).toLowerCase().startsWith(String(level)), stopped };
    },
  },
];

const CLIENT: readonly Feature[] = [
  calling("roots/list", "get-roots-list"),
  {
    name: "roots/list_changed",
    async see(peer) {
      const other = { uri: "file:///home/ada/films", name: "Films" };
      peer.roots = [...peer.roots, other];
      peer.heard.length = 0;
      await peer.client.sendRootsListChanged();
      await peer.next("notifications/message", ({ data }) => String(data).includes("Roots updated: 2"));
      return await call(peer, "get-roots-list");
    },
  },
  asking("sampling/createMessage", "trigger-sampling-request", { args: { prompt: "Say something", maxTokens: 10 } }),
  asking("elicitation/create: accepted", "trigger-elicitation-request"),
  asking("elicitation/create: declined", "trigger-elicitation-request", { answer: { action: "decline" } }),
  asking("elicitation/create: cancelled", "trigger-elicitation-request", { answer: { action: "cancel" } }),
  asking("elicitation/create: a URL", "trigger-url-elicitation", {
    args: { url: "https://example.com/connect", elicitationId: "one" },
    answer: { action: "accept" },
  }),
  {
    name: "URL elicitation as an error (-32042)",
    see: (peer) =>
      failure(call(peer, "trigger-url-elicitation", { url: "https://example.com/connect", errorPath: true })),
  },
];

const TASKS: readonly Feature[] = [
  {
    name: "a tool as a task: created, polled, result",
    async see(peer) {
      const kinds: string[] = [];
      let result: unknown = null;
      const params = { name: "simulate-research-query", arguments: { topic: "python" } };
      for await (const message of peer.client.experimental.tasks.callToolStream(params, undefined, { task: {} })) {
        if (kinds.at(-1) !== message.type) kinds.push(message.type);
        if (message.type === "result") result = message.result;
        if (message.type === "error") result = { code: message.error.code, message: message.error.message };
      }
      return { kinds, result };
    },
  },
  {
    name: "a tool that needs a task, called without one",
    see: (peer) => failure(peer.send("tools/call", { name: "simulate-research-query", arguments: { topic: "go" } })),
  },
  {
    name: "a task that asks the client",
    async see(peer) {
      const before = peer.asked.length;
      peer.answers.push({ action: "accept", content: { interpretation: "snake" } });
      const params = { name: "simulate-research-query", arguments: { topic: "python", ambiguous: true } };
      let result: unknown = null;
      for await (const message of peer.client.experimental.tasks.callToolStream(params, undefined, { task: {} })) {
        if (message.type === "result") result = message.result;
        if (message.type === "error") result = { code: message.error.code, message: message.error.message };
      }
      peer.answers.length = 0;
      return { asked: peer.asked.slice(before).map(({ method }) => method), result };
    },
  },
  {
    name: "tasks/list and tasks/cancel",
    async see(peer) {
      const { tasks } = peer.client.experimental;
      const params = { name: "simulate-research-query", arguments: { topic: "go" } };
      for await (const message of tasks.callToolStream(params, undefined, { task: {} })) {
        if (message.type !== "taskCreated") {
          return message.type === "error" ? { message: message.error.message } : message;
        }
        const { taskId } = message.task;
        const { tasks: all } = await tasks.listTasks();
        const isListed = (all as Json[]).some((task) => task.taskId === taskId);
        const { status } = await tasks.cancelTask(taskId).catch(() => ({ status: "refused" }));
        return { isListed, status, after: (await tasks.getTask(taskId)).status };
      }
    },
  },
  asking("sampling as a task of the client", "trigger-sampling-request-async", {
    args: { prompt: "Say something", maxTokens: 10 },
  }),
  asking("elicitation as a task of the client", "trigger-elicitation-request-async"),
];

/** Every feature by its group, in the order in which they are tried. */
export const FEATURES: Readonly<Record<string, readonly Feature[]>> = {
  Handshake: HANDSHAKE,
  Tools: TOOLS,
  Resources: RESOURCES,
  "Prompts and completion": PROMPTS,
  Logging: LOGGING,
  "Requests to the client": CLIENT,
  Tasks: TASKS,
};

/** Tries every feature, one after the other. Returns what was seen by its name; a failure is seen too. */
export async function seeAll(peer: Peer): Promise<Map<string, unknown>> {
  const seen = new Map<string, unknown>();
  for (const { name, see } of Object.values(FEATURES).flat()) {
    seen.set(name, normal(await see(peer).catch((error) => ({ failed: String(error) }))));
  }
  return seen;
}

/** Replaces what differs from call to call: times of day, dates, ids. */
function normal(value: unknown): unknown {
  const text = JSON.stringify(value ?? null, (key, part) => key === "blob" ? plainBlob(part) : part)
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "‹time›")
    .replace(/\b\d{1,2}:\d\d:\d\d(?:[\s\u202f][AP]M)?/g, "‹time›")
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|job_[0-9a-f]+/g, "‹id›");
  return JSON.parse(text);
}

/** A blob as the text in it, where it is text. */
function plainBlob(blob: unknown): unknown {
  const text = typeof blob === "string" ? atob(blob) : "";
  return /^[\x20-\x7e\u202f]+$/.test(text) ? { text } : blob;
}

/** Whether two things that were seen are the same. */
export function isSame(one: unknown, other: unknown): boolean {
  try {
    deepStrictEqual(one, other);
    return true;
  } catch {
    return false;
  }
}
