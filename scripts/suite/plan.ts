/**
 * Plans a run of the suite: test files are put together into batches for each runtime, and the costliest batch starts
 * first, so that none is left alone at the end.
 *
 * @module
 */

/** Files that one process of a runtime runs. */
export interface Batch {
  readonly runtime: string;
  readonly files: readonly string[];
  /** About how many seconds of a processor they take. */
  readonly cost: number;
}

/** Costly, and the least about a runtime: each has lighter tests of the same rooms beside it that run on all three. */
export const HEAVY: readonly string[] = [
  "./tests/cli/approval", // Commands over rooms whose own tests run everywhere.
  "./tests/cli/audit",
  "./tests/cli/doctor_test.ts",
  "./tests/cli/forged_lines_test.ts",
  "./tests/cli/hook",
  "./tests/cli/host_commands_test.ts",
  "./tests/cli/init_test.ts",
  "./tests/cli/jobs_test.ts",
  "./tests/cli/mcp_", // Their steps have tests of their own.
  "./tests/cli/plugin_",
  "./tests/cli/project_",
  "./tests/cli/read_only_home_test.ts",
  "./tests/cli/rules_test.ts",
  "./tests/cli/secret",
  "./tests/cli/serve_test.ts", // Signals have stop_test.ts, servers tests/http.
  "./tests/cli/terminal_test.ts",
  "./tests/cli/usage_test.ts",
  "./tests/conformance_mcp/", // Whole suites and foreign clients; tests/mcp asks the same code directly.
  "./tests/frameworks/ai_sdk_test.ts", // Foreign frameworks; what their adapters share is tried on each runtime.
  "./tests/frameworks/claude_agent_test.ts", // A program of its own for each test; the adapter is little beside it.
  "./tests/frameworks/examples_test.ts",
  "./tests/frameworks/langchain_test.ts",
  "./tests/frameworks/mastra_test.ts",
  "./tests/frameworks/openai_agents_test.ts",
  "./tests/findings/", // Once more from outside, what the rooms promise.
  "./tests/host/approvals_", // Rooms of the host that ask nothing of a runtime but a plugin's process.
  "./tests/host/compact_test.ts",
  "./tests/host/consents_test.ts",
  "./tests/host/gate_doors_test.ts",
  "./tests/host/hooks_test.ts",
  "./tests/host/host_kinds_test.ts",
  "./tests/host/kept_results_test.ts",
  "./tests/host/knobs_test.ts",
  "./tests/host/mcp_re", // Requests and resources of servers.
  "./tests/host/pins_test.ts",
  "./tests/host/plugins_from_test.ts",
  "./tests/host/portable_hooks_test.ts",
  "./tests/host/refused_test.ts",
  "./tests/host/reread_test.ts",
  "./tests/host/tool_search_test.ts",
  "./tests/host/tracing_test.ts",
  "./tests/host/withheld_test.ts",
  "./tests/console/", // A browser in front of the API that tests/http asks directly.
  "./tests/core/cage/net/clients_test.ts", // Programs in other languages.
  "./tests/core/cage/net/lookups_test.ts",
  "./tests/core/cage/escapes_", // Walls of the kernel, whoever asked for them.
  "./tests/core/remote/", // Servers elsewhere, over the network that tests/adapters tries on each runtime.
  "./tests/mcp/", // Foreign clients, servers and suites; tests/core/mcp and tests/host/mcp_… run everywhere.
  "./tests/operator/mcp_add/", // npm and cages, as for any install.
  "./tests/operator/conformance/check_conformance_test.ts",
  "./tests/jobs/four_hosts_test.ts", // Hosts on every runtime, whichever runs the test.
  "./tests/packages/install/killed_test.ts",
  "./tests/core/manifest/hostile_manifest_test.ts",
  "./tests/hookspec/emit/", // Compilers of other languages.
  "./tests/docs/docs_", // Programs and commands of the guides.
  "./tests/docs/readme_test.ts",
  "./tests/examples/agent_test.ts",
  "./tests/sdk/python",
];

/** Left to KAGED_HEAVY=1 altogether: whole foreign suites about rooms whose own tests run always, and much of a disk. */
export const LEFT_OUT: readonly string[] = [
  "./tests/mcp/conformance/client_conformance_test.ts",
  "./tests/mcp/conformance/older_suite_test.ts",
  "./tests/jobs/list_memory_test.ts", // Two gigabytes.
];

/** File → the one runtime that has it do its work, for all of them. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "./tests/frameworks/types_test.ts": "node", // The compiler's answer, whoever asks it.
  "./tests/jobs/list_memory_test.ts": "node", // It starts all three itself.
  "./tests/package/npm_bundles_test.ts": "node",
  "./tests/package/npm_first_test.ts": "node",
  "./tests/package/npm_package_test.ts": "node",
};

/** Seconds of a processor for files, or folders of files, that take far more than most. */
const COSTS: Readonly<Record<string, number>> = {
  "./tests/package/npm_package_test.ts": 40,
  "./tests/package/npm_bundles_test.ts": 30, // Eleven bundles, and over twenty agents.
  "./tests/package/npm_first_test.ts": 15,
  "./tests/console/page_test.ts": 30,
  "./tests/console/": 15,
  "./tests/docs/docs_": 10,
  "./tests/jobs/postgres": 8,
  "./tests/jobs/list_memory_test.ts": 16,
  "./tests/jobs/four_hosts_test.ts": 16,
  "./tests/jobs/big_answers_test.ts": 8,
  "./tests/packages/install/killed_test.ts": 8,
  "./tests/operator/conformance/check_conformance_test.ts": 8,
  "./tests/http/routes_test.ts": 8,
  "./tests/conformance_mcp/": 16,
  "./tests/mcp/conformance/": 60, // Seventy programs, each with a server of the suite.
  "./tests/mcp/everything_": 25, // A real server, and its real pauses.
  "./tests/frameworks/claude_agent_test.ts": 16,
  "./tests/frameworks/types_test.ts": 12,
  "./tests/frameworks/": 5,
  "./tests/core/supervisor/": 4,
  "./tests/core/cage/open_cage_test.ts": 5,
  "./tests/core/cage/escapes_": 3,
  "./tests/core/cage/net/clients_test.ts": 8, // Six cages, and a compiler.
  "./tests/host/": 3,
  "./tests/core/storage/": 2,
  "./tests/cli/": 3,
  "./tests/cli/mcp_add_test.ts": 40, // npm, and a cage for each server.
  "./tests/operator/mcp_add/fetch_server_test.ts": 8,
  "./tests/examples/": 4,
  "./tests/package/": 4,
};
const USUAL_COST = 1;
/** Enough that starting a process costs little beside it, little enough that no processor is idle at the end. */
const BATCH_COST = 16;

/** Returns about how many seconds of a processor a file takes, by the longest known start of its path. */
export function costOf(file: string): number {
  const known = Object.keys(COSTS).filter((start) => file.startsWith(start));
  return COSTS[known.reduce((longest, start) => start.length > longest.length ? start : longest, "")] ?? USUAL_COST;
}

/** Returns the batches, the costliest first; where `isLight`, {@link HEAVY} files run on Bun alone, and {@link LEFT_OUT} do not. */
export function planBatches(
  files: readonly string[],
  { runtimes, isLight }: { readonly runtimes: readonly string[]; readonly isLight: boolean },
): Batch[] {
  const isHeavy = (file: string): boolean => HEAVY.some((start) => file.startsWith(start));
  const isOut = (file: string): boolean => isLight && LEFT_OUT.includes(file);
  const batches = runtimes.flatMap((runtime) => {
    const own = files.filter((file) =>
      !isOut(file) && (ELSEWHERE[file] ?? runtime) === runtime && !(isLight && runtime !== "bun" && isHeavy(file))
    );
    return filled(own).map((some) => ({ runtime, files: some, cost: sumOf(some) }));
  });
  return batches.sort((a, b) => b.cost - a.cost);
}

/** Cuts the files, in their order, where the next would make a batch cost too much. */
function filled(files: readonly string[]): string[][] {
  const batches: string[][] = [];
  let last: string[] = [];
  for (const file of files) {
    if (last.length === 0 || sumOf(last) + costOf(file) > BATCH_COST) batches.push(last = []);
    last.push(file);
  }
  return batches;
}

function sumOf(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + costOf(file), 0);
}
