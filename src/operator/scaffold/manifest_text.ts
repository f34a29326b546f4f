/**
 * The manifest of a new plugin.
 *
 * @module
 */
import type { PluginProgram } from "./plugin_program.ts";

/** Returns the text of `kaged-plugin.yaml`. JSON strings are YAML strings, so nothing here needs other quoting. */
export function manifestText(name: string, { command, capabilities }: PluginProgram): string {
  return `name: ${JSON.stringify(name)}
version: 0.1.0
kaged_api: 1
description: Greets people

# How the host starts it. It always runs in a cage: this folder read-only, no network, no other programs.
command: ${flowList(command)}

# What it may reach beyond that, each asked of the operator once.
capabilities: ${flowList(capabilities)}

# Moments in a session at which the host calls it.
hooks: [on_session_start]

# What a model may call, as ${name}.greet.
tools:
  - name: greet
    description: Greets someone by name.
    parameters_schema:
      type: object
      properties:
        who: { type: string, description: Who to greet. }
      required: [who]
      additionalProperties: false

# What programs may call.
methods: [greetings.list]

# What a project may set.
config_schema:
  type: object
  properties:
    greeting: { type: string, default: Hello }
  additionalProperties: false
`;
}

function flowList(items: readonly string[]): string {
  return `[${items.map((item) => JSON.stringify(item)).join(", ")}]`;
}
