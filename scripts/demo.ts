/** The main job in one look: three plugins in three languages, each in its own cage, called, killed, come back. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { type AuditEvent, createSupervisor } from "../mod.ts";

const home = await mkdtemp(join(tmpdir(), "kaged-demo-"));
const show = (text: string) => console.log(text);
const json = (value: unknown) => JSON.stringify(value);

/** One line of the audit trail. */
function timelineRow({ timestamp, type, instance, data }: AuditEvent): string {
  return `  ${timestamp.slice(11, 23)}  ${type.padEnd(24)} ${instance.padEnd(13)} ${json(data).slice(0, 70)}`;
}

try {
  const trail: AuditEvent[] = [];
  await using supervisor = await createSupervisor({ home, operatorId: "demo" });
  supervisor.onAudit((event) => trail.push(event));

  show("Starting three plugins, each in its own bubblewrap cage …");
  for (const name of ["hello-bash", "hello-python", "notes"]) {
    await supervisor.register({ dir: resolve("examples/plugins", name) });
  }
  const { failed } = await supervisor.startAll();
  for (const { instance, error } of failed) {
    console.error(`error[${error.code}]: ${instance}: ${error.message}${error.hint ? `\n  hint: ${error.hint}` : ""}`);
    process.exitCode = 1;
  }
  for (const { plugin, version, status, pid, manifest } of supervisor.plugins()) {
    show(`  ${plugin} ${version}: ${status}, pid ${pid}, granted ${json(manifest.capabilities)}`);
  }

  show("\nCalling their tools …");
  const calls: [string, string, Record<string, unknown>][] = [
    ["hello-bash", "hello-bash.greet", { name: "Ada" }],
    ["hello-python", "hello-python.count_words", { text: "to be or not to be", top: 2 }],
    ["notes", "notes.add", { text: "The deploy target is Cloudflare Workers" }],
    ["notes", "notes.find", { query: "deploy" }],
  ];
  for (const [instance, method, params] of calls) {
    show(`  ${method}(${json(params)}) → ${json(await supervisor.call(instance, method, params))}`);
  }

  show("\nKilling one of them; the others do not notice, and it comes back …");
  const back = new Promise<void>((done) => {
    supervisor.onAudit(({ type, instance }) => type === "plugin.initialized" && instance === "hello-bash" && done());
  });
  process.kill(supervisor.plugin("hello-bash").pid!, "SIGKILL");
  show(`  hello-python.greet → ${json(await supervisor.call("hello-python", "hello.greet", { name: "Grace" }))}`);
  await back;
  show(`  hello-bash.greet → ${json(await supervisor.call("hello-bash", "hello-bash.greet", { name: "Ada" }))}`);

  await supervisor.stopAll();
  show("\nWhat the audit trail says:");
  for (const event of trail) show(timelineRow(event));
} finally {
  await rm(home, { recursive: true, force: true });
}
