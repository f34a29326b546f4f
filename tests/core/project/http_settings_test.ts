import assert from "node:assert/strict";
import { test } from "node:test";
import type { HostError } from "../../../src/core/errors/host_error.ts";
import { parseOperatorConfig } from "../../../src/core/project/operator_config.ts";
import type { Issue } from "../../../src/core/project/types.ts";

const parse = async (text: string) => (await parseOperatorConfig(text, { file: "config.toml" })).http;

test("[http] of config.toml says where kaged serve listens and under which names it may be asked", async () => {
  const text = '[http]\nport = 0\nhost = "::1"\nallowed_hosts = ["agent.lan", "10.0.0.7"]\ncalls_per_second = 1\n';
  const allowed_hosts = ["agent.lan", "10.0.0.7"];
  assert.deepEqual(await parse(text), { port: 0, host: "::1", allowed_hosts, calls_per_second: 1 });
  assert.deepEqual(await parse(""), {});
});

test("a setting of [http] that is misspelt or out of range is refused at its place, for it would not guard", async () => {
  const text = `[http]
port = 65536
host = "http://x"
allowed_hosts = ["ok", "a b"]
calls_per_second = 0
alowed_hosts = []
`;
  await assert.rejects(parse(text), (error: HostError) => {
    const { issues } = error.data as { issues: Issue[] };
    assert.deepEqual(issues.map(({ line, code, path }) => `${line} ${code} ${path}`), [
      "2 config.invalid_value http.port",
      "3 config.invalid_value http.host",
      "4 config.invalid_value http.allowed_hosts[1]",
      "5 config.invalid_value http.calls_per_second",
      "6 config.unknown_key http.alowed_hosts",
    ]);
    assert.match(issues[4]!.hint ?? "", /allowed_hosts/);
    return true;
  });
});
