/**
 * Hosts side by side: ours, the bare limit, and other JSON-RPC hosts on the transports they come with.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { detectRuntime } from "../../src/adapters/default.ts";
import { HostError } from "../../src/core/errors/host_error.ts";
import type { ChildProcess } from "../../src/core/ports/ports.ts";
import { createConnection } from "../../src/core/wire/connection.ts";
import { openBare } from "./bare.ts";

/** A host with its plugin. */
export interface OpenHost {
  /** Calls a method of the plugin. */
  call(method: string, params: unknown): Promise<unknown>;
  /** Ends the plugin. */
  close(): void;
}

/** How each host is opened on a plugin that `node` runs. */
export type OpenImplementation = (node: string) => Promise<OpenHost>;

const linePlugin = fileURLToPath(new URL("line_plugin.js", import.meta.url));
const headerPlugin = fileURLToPath(new URL("header_plugin.js", import.meta.url));

/** Name → host. The bare limit runs twice: what lies between the two is noise. */
export const implementations: Readonly<Record<string, OpenImplementation>> = {
  ours: openOurs,
  bare: (node) => Promise.resolve(openBareHost(node)),
  "json-rpc-2.0": openJsonRpc2,
  "mcp-sdk": openMcp,
  "vscode-jsonrpc": openVscode,
  "bare again": (node) => Promise.resolve(openBareHost(node)),
};

function openBareHost(node: string): OpenHost {
  const { child, call } = openBare(node, [linePlugin]);
  return { call, close: () => void child.kill() };
}

async function openOurs(node: string): Promise<OpenHost> {
  const { processes, clock, bytes } = await detectRuntime();
  let child: ChildProcess | null = null;
  const connection = createConnection({
    clock,
    bytes,
    wire: {
      write: (text) => child?.write(text),
      bufferedBytes: () => child?.bufferedBytes() ?? 0,
      pause: () => child?.pause(),
      resume: () => child?.resume(),
    },
    onRequest: () => null,
    onNotification: () => {},
    onIrregularity: (irregularity) => {
      throw new Error(`The plugin sent ${JSON.stringify(irregularity)}`);
    },
  });
  child = await processes.spawn({ file: node, args: [linePlugin], env: {}, cwd: "/" }, {
    stdout: (chunk) => connection.receive(chunk),
    stdoutEnd: () => connection.close(new HostError("protocol.closed", "The plugin has ended")),
    stderr: () => {},
    drain: () => connection.drained(),
  });
  return { call: (method, params) => connection.call(method, params), close: () => child.kill("SIGKILL") };
}

async function openJsonRpc2(node: string): Promise<OpenHost> {
  const { JSONRPCClient } = await import("json-rpc-2.0");
  const child = spawn(node, [linePlugin], { stdio: ["pipe", "pipe", "ignore"] });
  const client = new JSONRPCClient((message) => void child.stdin.write(`${JSON.stringify(message)}\n`));
  createInterface({ input: child.stdout }).on("line", (line) => client.receive(JSON.parse(line)));
  return {
    call: (method, params) => Promise.resolve(client.request(method, params as Record<string, unknown>)),
    close: () => void child.kill(),
  };
}

async function openMcp(node: string): Promise<OpenHost> {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const { ResultSchema } = await import("@modelcontextprotocol/sdk/types.js");
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command: node, args: [linePlugin], stderr: "ignore" }));
  return {
    call: (method, params) => client.request({ method, params: params as Record<string, unknown> }, ResultSchema),
    close: () => void client.close(),
  };
}

async function openVscode(node: string): Promise<OpenHost> {
  const { createMessageConnection, StreamMessageReader, StreamMessageWriter } = await import("vscode-jsonrpc/node");
  const child = spawn(node, [headerPlugin], { stdio: ["pipe", "pipe", "ignore"] });
  const connection = createMessageConnection(
    new StreamMessageReader(child.stdout),
    new StreamMessageWriter(child.stdin),
  );
  connection.listen();
  return {
    call: (method, params) => connection.sendRequest(method, params),
    close: () => {
      connection.dispose();
      child.kill();
    },
  };
}
