/**
 * The table of routes that the app serves, the OpenAPI document describes and the tests walk.
 *
 * @module
 */
import type { Route } from "../route.ts";
import { AGENT_ROUTES } from "./agent_routes.ts";
import { APPROVAL_ROUTES } from "./approval_routes.ts";
import { AUDIT_ROUTES } from "./audit_routes.ts";
import { CALL_ROUTES } from "./call_routes.ts";
import { CONSENT_ROUTES } from "./consent_routes.ts";
import { HOST_ROUTES } from "./host_routes.ts";
import { HOST_JOB_ROUTES } from "./job_routes.ts";
import { KNOB_ROUTES } from "./knob_routes.ts";
import { PLUGIN_ROUTES } from "./plugin_routes.ts";
import { STREAM_ROUTES } from "./stream_routes.ts";
import { TOOL_ROUTES } from "./tool_routes.ts";

/** Every route of the API. */
export const ROUTES: readonly Route[] = [
  ...HOST_ROUTES,
  ...PLUGIN_ROUTES,
  ...CALL_ROUTES,
  ...KNOB_ROUTES,
  ...AGENT_ROUTES,
  ...TOOL_ROUTES,
  ...HOST_JOB_ROUTES,
  ...CONSENT_ROUTES,
  ...APPROVAL_ROUTES,
  ...STREAM_ROUTES,
  ...AUDIT_ROUTES,
];
