/**
 * Hooks from anywhere in one ordered chain: plugins, files, MCP tools and code.
 *
 * @module
 */
export {};
