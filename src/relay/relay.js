// The relay of @kaged/plugin-host: runs in a cage whose network is empty but for itself. It passes connections from a
// port of that network to the gatekeeper's socket, and runs the plugin with its own stdin, stdout and stderr.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { constants } from "node:os";
import process from "node:process";

const { command, env, port, socket } = JSON.parse(readFileSync(process.argv[2], "utf8"));

// A stop signals the whole group, the plugin among it: the relay stays until the plugin has ended.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR2"]) process.on(signal, () => {});

const server = createServer({ allowHalfOpen: true }, (client) => {
  const gate = connect({ path: socket, allowHalfOpen: true });
  const end = () => (client.destroy(), gate.destroy());
  for (const [from, to] of [[client, gate], [gate, client]]) {
    from.on("error", end);
    from.pipe(to);
    from.on("close", () => from.errored && end());
  }
});
server.on("error", (error) => fail(`Cannot listen: ${error.message}`));

// First the port, then the plugin: it may connect at once.
server.listen(port, "127.0.0.1", () => {
  const [file, ...args] = command;
  const plugin = spawn(file, args, { env, stdio: "inherit" });
  plugin.on("error", (error) => fail(`Cannot run ${file}: ${error.message}`));
  plugin.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
});

function fail(message) {
  process.stderr.write(`relay: ${message}\n`);
  process.exit(127);
}
