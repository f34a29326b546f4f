/**
 * The API of a host with fixture plugins, for one test: asked directly, without a server between.
 *
 * @module
 */
import { detectRuntime } from "../../src/adapters/default.ts";
import { createApp } from "../../src/http/create_app.ts";
import type { App, AppOptions } from "../../src/http/create_app.ts";
import type { Problem } from "../../src/http/problem.ts";
import { checkAnswer } from "./api_document.ts";
import { type Hosted, hosted, type HostedOptions } from "./hosted.ts";

/** The token that a client must send. */
export const TOKEN = "test-token-test-token-test-token-test";
/** Where the API thinks it is. */
export const ORIGIN = "http://127.0.0.1:4717";
/** The plugin's secret in local.toml, which no answer may contain. */
export const SECRET = "s3cr3t-of-the-operator";

/** An answer, read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The body, as JSON where it is JSON. */
  // deno-lint-ignore no-explicit-any
  readonly body: any;
}

/** An app under a test's hand. */
export interface Served extends AsyncDisposable {
  readonly h: Hosted;
  readonly app: App;
  /** Problems that the app reported. */
  readonly warnings: string[];
  /** Asks with the token. Every JSON answer must be as /openapi.json describes it. */
  ask(path: string, init?: RequestInit & { json?: unknown }): Promise<Answer>;
  /** Asks and returns the response as it is. */
  raw(path: string, init?: RequestInit, signal?: AbortSignal): Promise<Response>;
}

/** `project.yaml` of the usual project. */
export const YAML = `# The music project
primary:
  plugins:
    memory: # kept in git
      package: "@test/memory"
      config:
        level: 2 # how deep
  subagents:
    researcher:
      plugins:
        memory: { package: "@test/memory" }
`;

/** The usual plugin: well behaved, with a knob, a secret and storage. */
export const USUAL: HostedOptions = {
  yaml: YAML,
  local: `[plugins."@test/memory"]\ntoken = "${SECRET}"\n`,
  fixtures: {
    "@test/memory": {
      fixture: "echo",
      manifest: {
        capabilities: ["kaged:storage:write"],
        config_schema: { type: "object", properties: { level: { type: "integer", default: 1 } } },
        system_config_schema: { type: "object", properties: { token: { type: "string" } } },
        knobs: {
          level: { type: "int_range", label: "Level", min: 1, max: 9, step: 1, default: 1, binds_to: "config.level" },
        },
      },
    },
  },
};

/** Makes an app for one test: `await using s = await served()`. */
export async function served(
  options: HostedOptions = USUAL,
  appOptions: Partial<AppOptions> = {},
): Promise<Served> {
  const h = await hosted({ control: false, ...options });
  const warnings: string[] = [];
  const app = createApp({ host: h.host, token: TOKEN, onWarning: (text) => warnings.push(text), ...appOptions });
  const upgrade = (): never => {
    throw new Error("There is no connection here");
  };

  async function raw(
    path: string,
    { headers, ...init }: RequestInit = {},
    signal: AbortSignal | null = null,
  ): Promise<Response> {
    const all = new Headers({ host: new URL(ORIGIN).host, authorization: `Bearer ${TOKEN}` });
    for (const [name, value] of new Headers(headers)) {
      if (value === "") all.delete(name);
      else all.set(name, value);
    }
    return await app.fetch(new Request(ORIGIN + path, { ...init, headers: all }), { upgrade, signal });
  }

  return {
    h,
    app,
    warnings,
    raw,
    async ask(path, { json, ...init } = {}) {
      const body = json === undefined ? {} : { body: JSON.stringify(json) };
      const type = json === undefined ? {} : { "Content-Type": "application/json" };
      const response = await raw(path, { ...body, ...init, headers: { ...type, ...init.headers } });
      const isJson = response.headers.get("content-type")?.includes("json") ?? false;
      const { status, headers } = response;
      const text = await response.text();
      if (!isJson) return { status, headers, body: text };
      const parsed = JSON.parse(text);
      checkAnswer(init.method ?? "GET", path, { status, type: headers.get("content-type")!, body: parsed });
      return { status, headers, body: parsed };
    },
    async [Symbol.asyncDispose]() {
      app.close();
      await h[Symbol.asyncDispose]();
    },
  };
}

/** Serves the app at a free port for as long as a test takes. */
export async function listening(s: Served): Promise<{ port: number } & AsyncDisposable> {
  const { http } = await detectRuntime();
  const server = await http.listen({ at: { hostname: "127.0.0.1", port: 0 }, handler: s.app.fetch });
  return {
    port: server.port!,
    async [Symbol.asyncDispose]() {
      s.app.close();
      const stopped = server.stop();
      await server.destroy();
      await stopped;
    },
  };
}

/** Returns the status and the code of a failure. */
export function failed({ status, body }: Answer): [number, Problem["code"]] {
  return [status, body.code];
}
