/** Manifests of the plugin-host document. */

/** "Full schema". */
export const FULL_SAMPLE = `# kaged-plugin.yaml
name: memory-markdown                   # required, string, slug format
version: 0.1.0                          # required, string, semver
kaged_api: 1                            # required, integer
description: >-                         # required, string (one line, max 200 chars)
  Markdown-file-backed agent memory.
author: kaged                           # optional, string
license: MIT                            # optional, string (SPDX identifier)
homepage: https://github.com/...        # optional, URL

command:                                # required, list of strings
  - /usr/bin/env
  - bun
  - ./dist/index.js

env:                                    # optional, map of string→string
  LOG_LEVEL: info

capabilities:                           # required, list of strings
  - read:fs:config:/memory
  - write:fs:config:/memory
  - kaged:storage:read
  - net: []

roles:                                  # optional, list of strings
  - observer                            # may subscribe to hooks; may inject/retain
  # - compactor                         # may also replace the message list on pre_compact

hooks:                                  # optional, list of strings
  - on_session_start
  - on_session_idle
  - pre_compact
  - post_compact

tools:                                  # optional, list of tool declarations
  - name: retain                        # prefixed name will be: memory-markdown.retain
    description: "Store information in long-term memory."
    parameters_schema:
      type: object
      properties:
        content: { type: string }
        context: { type: string }
        tags: { type: array, items: { type: string } }
      required: [content]
  - name: recall
    description: "Search long-term memory."
    parameters_schema:
      type: object
      properties:
        query: { type: string }
        tags: { type: array, items: { type: string } }
      required: [query]

methods:                                # required, list of strings (custom methods)
  - presets.list                        # plugin-declared methods (legacy or non-tool RPC)
  # (memory plugins typically have no custom methods beyond tools + hooks)

notifications:                          # optional, list of strings
  - catalog.updated

config_schema:                          # optional, JSON Schema object (project-side; committed)
  type: object
  properties:
    isolation:
      type: string
      enum: [agent, project]
      default: agent
    store:
      type: string
      default: "config:/memory"
    tags:
      type: array
      items: { type: string }
  additionalProperties: false

system_config_schema:                   # optional, JSON Schema object (operator-local; secrets)
  type: object
  properties: {}                        # markdown backend has no secrets
  additionalProperties: false

knobs:                                  # optional, map
  store:
    type: path
    label: "Storage location"
    description: "Where memory files are stored."
    prefixes: ["config:", "project:"]
    default: "config:/memory"
    binds_to: "config.store"
  isolation:
    type: enum
    label: "Isolation scope"
    description: "Per-agent or per-project memory."
    values: [agent, project]
    default: agent
    binds_to: "config.isolation"

shutdown_timeout_sec: 5                 # optional, integer, default 5
health_interval_sec: 30                 # optional, integer, default 30
hook_timeout_sec: 10                    # optional, integer, default 10 (max 60)
`;

/** The knobs of "Manifest shape", on the config schemas of "The split" with the fields they bind to. */
export const KNOB_SAMPLE = `name: memory-hindsight
version: 0.1.0
kaged_api: 1
description: Hindsight-backed agent memory.
command: [/usr/bin/env, bun, ./dist/index.js]
capabilities: []

config_schema:                       # the project-side schema (committed)
  type: object
  properties:
    api_url:
      type: string
      default: "https://api.hindsight.vectorize.io"
    recall_budget:
      type: string
      enum: [low, mid, high]
      default: mid
    tags:
      type: array
      items: { type: string }
    retain_every_n_turns: { type: integer }
    store: { type: string }
    thinking_model: { type: [string, "null"] }
  additionalProperties: false

system_config_schema:                 # the operator-local schema (secrets)
  type: object
  properties:
    api_token:
      type: string
      description: "Hindsight API token; obtain at ui.hindsight.vectorize.io/connect"
  required: [api_token]
  additionalProperties: false

knobs:
  recall_budget:
    type: enum
    label: "Recall budget"
    description: "Compute budget for memory recall operations."
    values: [low, mid, high]
    labels:
      low: "Low (fast, less context)"
      mid: "Mid (balanced)"
      high: "High (deep, slower)"
    default: mid
    binds_to: "config.recall_budget"     # which config field this knob writes

  retain_every_n_turns:
    type: int_range
    label: "Auto-retain frequency"
    description: "Save the transcript after every N user turns."
    min: 1
    max: 20
    step: 1
    default: 3
    binds_to: "config.retain_every_n_turns"

  store:
    type: path
    label: "Memory storage location"
    description: "Where memory files are stored."
    prefixes: ["config:", "project:"]
    default: "config:/memory"
    binds_to: "config.store"

  thinking_model:
    type: model_alias
    label: "Reflection model"
    description: "Model used for the reflect operation."
    filter: reasoning
    default: null
    binds_to: "config.thinking_model"
`;
