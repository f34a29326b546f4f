import assert from "node:assert/strict";
import { test } from "node:test";
import { served } from "../support/served.ts";

test("the API and the metrics show a plugin that rests, and a call of its method starts it", async () => {
  await using s = await served({
    primary: { echo: { start: "on_demand" } },
    fixtures: { "@test/echo": "echo" },
  });
  const states = async () => (await s.ask("/api/v1/plugins")).body.plugins.map(({ state }: { state: string }) => state);
  const gauge = 'kaged_plugin_state{plugin="echo",instance="echo@music/primary",state="resting"}';
  assert.deepEqual(await states(), ["resting"]);
  assert.ok(String((await s.ask("/metrics")).body).includes(`${gauge} 1`));
  await s.h.host.callMethod("echo", "echo.pid");
  assert.deepEqual(await states(), ["running"]);
  assert.ok(String((await s.ask("/metrics")).body).includes(`${gauge} 0`));
});
