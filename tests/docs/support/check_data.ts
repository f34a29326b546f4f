/**
 * Reads the data a guide shows as the host would.
 *
 * @module
 */
import { parseHookFile } from "../../../src/hooks/files/parse_hook_file.ts";
import { parseManifest } from "../../../src/core/manifest/read_manifest.ts";
import { parseLocalConfig } from "../../../src/core/project/local_config.ts";
import { parseOperatorConfig } from "../../../src/core/project/operator_config.ts";
import { parseProject } from "../../../src/core/project/read_project.ts";
import { kindOf, parseLine } from "../../../src/core/wire/codec.ts";
import { parse as parseYaml } from "yaml";

/** Throws when a yaml, toml or json block is not what its kind of file may hold. What file it is shows in its keys. */
export async function checkData(language: string, text: string): Promise<void> {
  if (language === "toml") {
    if (/^\[plugins/m.test(text)) await parseLocalConfig(text, { file: "local.toml" });
    else await parseOperatorConfig(text, { file: "config.toml" });
  } else if (language === "json") {
    const data = JSON.parse(text);
    if (data?.jsonrpc !== undefined && kindOf(parseLine(text)) === "invalid") {
      throw new Error("No JSON-RPC 2.0 message");
    }
    if (data?.mcpServers !== undefined && data.hooks !== undefined) await parseHookFile(text, { file: "mcp.json" });
  } else if (/^kaged_api:/m.test(text)) {
    await parseManifest(text, { file: "kaged-plugin.yaml" });
  } else if (/^primary:/m.test(text)) {
    await parseProject(text, { file: "project.yaml", dir: "/project" });
  } else {
    parseYaml(text, { strict: true, uniqueKeys: true });
  }
}
