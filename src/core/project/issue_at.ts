/**
 * Issues and errors that name a place in a project file.
 *
 * @module
 */
import { ERRORS, HostError, type HostErrorCode } from "../errors/host_error.ts";
import { type DocumentPath, formatPath, type IssueText } from "../documents/document_report.ts";
import type { Issue, Project } from "./types.ts";

/** Returns an issue about the value at `path`. */
export function issueAt(project: Project, code: HostErrorCode, path: DocumentPath, text: IssueText): Issue {
  const { cause, fix } = ERRORS[code];
  const { message = cause, hint = fix, part = "value" } = text;
  return { code, message, file: project.file, ...project.places.placeOf(path, part), path: formatPath(path), hint };
}

/** Returns an error about the value at `path`, with its place in the message and in its data. */
export function errorAt(
  project: Project,
  code: HostErrorCode,
  path: DocumentPath,
  { data = {}, ...text }: IssueText & { readonly data?: Readonly<Record<string, unknown>> },
): HostError {
  const { message, file, line, column, path: where, hint } = issueAt(project, code, path, text);
  return new HostError(code, `${file}:${line}:${column}: ${message}`, {
    data: { file, line, column, path: where, ...data },
    ...(hint !== undefined && { hint }),
  });
}

/** Returns the keys that lead to an agent: `["primary", "subagents", "researcher"]`. */
export function stepsOf(agentPath: string): string[] {
  return agentPath.split(".");
}
