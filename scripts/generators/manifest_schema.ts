/**
 * The published JSON Schema of `kaged-plugin.yaml`, from the schema the host itself reads manifests with.
 *
 * @module
 */
import { toJsonSchema } from "@valibot/to-json-schema";
import { manifestInput } from "../../src/core/manifest/schema.ts";
import type { Generator } from "../generate.ts";

const manifestSchema: Generator = {
  path: "schema/plugin-manifest-v1.json",
  render() {
    const { $schema, ...schema } = toJsonSchema(manifestInput, {
      target: "draft-2020-12",
      typeMode: "input",
      // Checks that only the host makes, because a pattern cannot say them.
      ignoreActions: ["check"],
      errorMode: "throw",
    });
    const head = {
      $schema,
      $id: "https://kaged.dev/schema/plugin-manifest-v1.json",
      title: "kaged-plugin.yaml",
      description: "What a plugin says of itself. Rules between fields are checked by `kaged plugin check`.",
    };
    const elsewhere = {
      if: { properties: { runtime: { const: "mcp_http" } }, required: ["runtime"] },
      then: { required: ["url"] },
      else: { required: ["command", "capabilities"] },
    };
    return Promise.resolve(`${JSON.stringify({ ...head, ...schema, ...elsewhere }, null, 2)}\n`);
  },
};

export default manifestSchema;
