/**
 * What an instance is made of.
 *
 * @module
 */
import type { Audit, AuditSubject } from "../audit/audit.ts";
import type { OpenCage } from "../cage/cage.ts";
import type { Manifest } from "../manifest/manifest.ts";
import type { PluginNotification, PluginSpec, SupervisorOptions } from "./types.ts";

/** What an instance is made of. */
export interface InstanceOptions {
  /** How the supervisor is set up. */
  readonly host: SupervisorOptions;
  /** What to run. */
  readonly spec: PluginSpec;
  /** Its manifest, as it was when the plugin was registered. */
  readonly manifest: Manifest;
  /** Reads the manifest again, when the file has changed. */
  readonly freshManifest: () => Promise<Manifest>;
  /** Builds cages. */
  readonly openCage: OpenCage;
  /** Where audit events go. */
  readonly audit: Audit;
  /** Whom they are about. */
  readonly subject: AuditSubject;
  /** Hears notifications. */
  readonly onNotification: (notification: PluginNotification) => void;
}
