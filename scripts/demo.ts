/** The main job in one look: the example agent, with its plugins in their cages and a model of its own. */
import process from "node:process";
import { main } from "../examples/deno-agent/agent.ts";

process.exitCode = await main(process.argv.slice(2));
