/**
 * Programs that open their standard streams by name. A socket cannot be opened so, and some runtimes give their children
 * sockets.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { supervised } from "../../support/supervised.ts";
import { until } from "../../support/until.ts";

/** A program that opens its streams by name, two of them for every line, and gives each request its method's answer. */
const byName = (input: string, answers: Readonly<Record<string, unknown>>): string[] => [
  "bash",
  "-c",
  `
exec 3<${input}
exec <&- # From here on its own stdin is gone.
while IFS= read -r line <&3; do
  [[ $line =~ \\"method\\":\\"([^\\"]+)\\" ]] || continue
  method=\${BASH_REMATCH[1]}
  echo "heard $method" >/dev/stderr
  [[ $line =~ \\"id\\":([0-9]+|\\"[^\\"]+\\") ]] || continue
  id=\${BASH_REMATCH[1]}
  case $method in
${Object.entries(answers).map(([method, result]) => `  ${method}) result='${JSON.stringify(result)}' ;;`).join("\n")}
  *) result='{}' ;;
  esac
  echo "{\\"jsonrpc\\":\\"2.0\\",\\"id\\":$id,\\"result\\":$result}" >/dev/stdout
done`,
];

test("N-038 a caged plugin opens /dev/stdin, /dev/stdout and /dev/stderr", async () => {
  await using s = await supervised();
  const identity = { version: "1.0.0", api_version: 1, methods: ["fixture.call"], notifications: ["fixture.happened"] };
  const instance = await s.add("never_initializes", {
    manifest: {
      name: "by-name",
      command: byName("/dev/stdin", {
        initialize: { name: "by-name", ...identity, capabilities_used: [] },
        ping: { status: "ok" },
        "fixture.call": { answer: 42 },
      }),
    },
  });
  await s.supervisor.start(instance);
  assert.deepEqual(await s.supervisor.call(instance, "fixture.call", {}), { answer: 42 });
  await until(() => s.logs.some(({ line }) => line === "heard fixture.call"), "a line on stderr");
});

test("N-038 a caged MCP server opens /dev/stdin, /dev/stdout and /dev/stderr", async () => {
  await using s = await supervised();
  const instance = await s.add("mcp_tools", {
    manifest: {
      name: "mcp-by-name",
      capabilities: ["exec:cat:plugin:/"],
      command: byName(" <(cat /dev/stdin)", {
        initialize: {
          protocolVersion: "2025-11-25",
          capabilities: { tools: {} },
          serverInfo: { name: "by name", version: "1" },
        },
        "tools/list": { tools: [{ name: "say", inputSchema: { type: "object" } }] },
        "tools/call": { content: [{ type: "text", text: "said" }] },
      }),
    },
  });
  await s.supervisor.start(instance);
  assert.deepEqual(s.supervisor.plugin(instance).tools.map(({ name }) => name), ["say"]);
  await until(() => s.logs.some(({ line }) => line === "heard tools/list"), "a line on stderr");
});
