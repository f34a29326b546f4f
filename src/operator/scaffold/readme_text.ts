/**
 * The README of a new plugin.
 *
 * @module
 */
import type { PluginProgram } from "./plugin_program.ts";

/** Returns the text of `README.md`. */
export function readmeText(name: string, { main }: PluginProgram): string {
  return `# ${name}

A kaged plugin. \`${main}\` is the program, \`kaged-plugin.yaml\` says what it offers and what it may reach.

It greets: one tool for the model (\`greet\`), one method for programs (\`greetings.list\`), one hook that adds a line to
the system prompt (\`on_session_start\`), and one setting (\`greeting\`).

Run these in this folder:

\`\`\`sh
# Every rule, one line each
kaged plugin check .
# A method
kaged plugin call . greetings.list
# The tool, with a setting of your own
kaged plugin call . ${name}.greet '{"who": "Ada"}' --config '{"greeting": "Ahoy"}'
\`\`\`

Change the name or the version in both files: the host compares them. Standard output belongs to the protocol, one JSON
object per line; messages for people go to standard error.
`;
}
