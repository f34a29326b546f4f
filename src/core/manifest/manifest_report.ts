/**
 * What is wrong with a manifest.
 *
 * @module
 */
import { DocumentReport } from "../documents/document_report.ts";

export { describeIssues, formatPath } from "../documents/document_report.ts";
export type { DocumentPath, IssueText, Place, PlaceFinder } from "../documents/document_report.ts";

/** Gathers issues and warnings about one manifest. */
export class ManifestReport extends DocumentReport {
  /** Starts an empty report about `file`. */
  constructor(file: string) {
    super(file, { room: "manifest", title: "Manifest" });
  }
}
