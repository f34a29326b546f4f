/**
 * Hooks from anywhere in one ordered chain: plugins, files, MCP tools and code.
 *
 * @module
 */
export { type HookFileOptions, parseHookFile, parseMcpHookMap } from "./files/parse_hook_file.ts";
export type {
  FileHook,
  HookCommands,
  HookDialect,
  HookPlace,
  McpHook,
  McpHookMap,
  ParsedHookFile,
} from "./files/types.ts";
export type { PortableHookName } from "./portable/types.ts";
export type { ManifestIssue } from "../manifest/manifest.ts";
