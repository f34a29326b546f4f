/**
 * Single rules in `config.toml`: added above the rule that they answer, and removed. Comments and order stay, and a file
 * that would be invalid is not written.
 *
 * @module
 */
import { isSameRule, type ToolRule } from "../rules/rules.ts";
import { insertTomlTable, removeTomlTable } from "../documents/edit_toml_list.ts";
import type { TomlDocument } from "../documents/read_toml.ts";
import { HostError } from "../errors/host_error.ts";
import { withHomeLock } from "../files/file_lock.ts";
import { replaceText } from "../files/replace_text.ts";
import type { Runtime } from "../ports/ports.ts";
import { defined } from "../values/plain_data.ts";
import { openOperatorFile, operatorConfigOf } from "./operator_config.ts";

const LIST = "tool_rules";

/** A rule without its place in a file. */
export type PlainRule = Omit<ToolRule, "id">;

/**
 * Adds a rule directly above another, which it is an exception of, or behind the last one (null), under the lock of the
 * home. The other is looked up by what it says: its line may have moved. Returns the id of the rule: where it stands
 * above the other already, nothing is written.
 *
 * @throws {HostError} `config.rule_unknown` when the other rule is no longer there; `config.invalid`,
 * `config.edit_refused` or `install.busy`.
 */
export async function addToolRule(
  home: string,
  rule: PlainRule,
  { above }: { readonly above: PlainRule | null },
  runtime: Runtime,
): Promise<string> {
  await runtime.files.makeDir(home, { recursive: true, mode: 0o700 });
  return await changeRules(home, runtime, async (before, rules) => {
    const index = above === null ? rules.length : rules.findIndex((one) => isSameRule(one, above));
    if (index === -1) throw unknownRule(above!);
    const known = rules.findIndex((one, at) => at < index && isSameRule(one, rule));
    if (known !== -1) return { after: before, result: () => rules[known]!.id };
    const { tool, agent, project, decision } = rule;
    const values = defined({ tool, agent: agent ?? undefined, project: project ?? undefined, decision });
    const after = await insertTomlTable(before, LIST, index, values);
    return { after, result: (now) => now[index]!.id };
  });
}

/**
 * Removes the first rule that says this, under the lock of the home. Returns whether there was one.
 *
 * @throws {HostError} `config.invalid`, `config.edit_refused` or `install.busy`.
 */
export async function removeToolRule(home: string, rule: PlainRule, runtime: Runtime): Promise<boolean> {
  return await changeRules(home, runtime, async (before, rules) => {
    const index = rules.findIndex((one) => isSameRule(one, rule));
    if (index === -1) return { after: before, result: () => false };
    return { after: await removeTomlTable(before, LIST, index), result: () => true };
  });
}

/** A file with a change of its rules, and the result of that, from the rules as they are then. */
interface Changed<T> {
  readonly after: TomlDocument;
  readonly result: (now: readonly ToolRule[]) => T;
}

async function changeRules<T>(
  home: string,
  runtime: Runtime,
  change: (before: TomlDocument, rules: readonly ToolRule[]) => Promise<Changed<T>>,
): Promise<T> {
  const { files, ids } = runtime;
  return await withHomeLock(home, runtime, async () => {
    const before = await openOperatorFile(home, files);
    const { after, result } = await change(before, operatorConfigOf(before).toolRules);
    const { toolRules } = operatorConfigOf(after);
    if (after.text !== before.text) {
      const { exists, report: { file: path } } = before;
      // The file behind a link is changed, and the link stays.
      const file = exists ? await files.realPath(path) : path;
      const texts = { before: exists ? before.text : null, text: after.text };
      await replaceText(file, { ...texts, code: "config.edit_refused" }, { files, ids });
    }
    return result(toolRules);
  });
}

function unknownRule({ tool, agent, project, decision }: PlainRule): HostError {
  const whom = [agent === null ? "" : ` for "${agent}"`, project === null ? "" : ` in project "${project}"`].join("");
  return new HostError("config.rule_unknown", `config.toml no longer has the rule ${decision} on "${tool}"${whom}`, {
    data: { tool, agent, project, decision },
    hint: "See kaged rules list, and try again",
  });
}
