/** The main job in one look: the example agent, with its plugins in their cages and a model of its own. */
import process from "node:process";
import { main } from "../examples/deno-agent/agent.ts";

const args = process.argv.slice(2);
process.exitCode = await main(args);
if (process.exitCode === 0 && args.length === 0) {
  console.log("\nNext: bin/kaged plugin new my-plugin makes a plugin of your own, and docs/README.md leads on.");
}
