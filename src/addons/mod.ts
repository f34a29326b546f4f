/**
 * Listeners for a host's events: loggers, webhooks, and figures for Application Insights. None of them can disturb the
 * host's work.
 *
 * @module
 */
export type { EventSource } from "./event_source.ts";
export { type ConsoleLoggerOptions, createConsoleLogger } from "./console_logger.ts";
export { createFileLogger, type FileLogger, type FileLoggerOptions } from "./file_logger.ts";
export type { LogFiles, LogRotation } from "./file_logger.ts";
export { createInsightsExporter, type InsightsExporter, type InsightsExporterOptions } from "./insights/exporter.ts";
export { createWebhookForwarder, type WebhookForwarder, type WebhookForwarderOptions } from "./webhooks/forwarder.ts";
export { createWebhookManager, type WebhookManager, type WebhookManagerOptions } from "./webhooks/manager.ts";
export { type WebhookRoutes, webhookRoutes } from "./webhooks/routes.ts";
export { fileWebhookStore, type StoreFiles, type WebhookStore } from "./webhooks/store.ts";
export type { NewWebhook, SecretRotation, WebhookChange } from "./webhooks/manager.ts";
export type { Webhook, WebhookDelivery, WebhookSecret, WebhookView } from "./webhooks/webhook.ts";
export type { DeliveryAttempt, RetryOptions } from "./webhooks/courier.ts";
export type { ContentChoice, ContentField, WebhookPayload } from "./webhooks/payload.ts";
export type { SendingOptions, WebhookRuntime } from "./webhooks/sending.ts";
export type { AllowPrivate } from "./webhooks/target.ts";
export type {
  AnyEvent,
  EmittedEvents,
  EmittedName,
  EventName,
  Events,
  SummaryEvents,
  TokenUsage,
  TraceEvents,
} from "../events/types.ts";
export type { Size } from "../core/compaction/messages.ts";
export type {
  Clock,
  FileDigest,
  FileInfo,
  Files,
  Ids,
  Network,
  ReadWhole,
  Socket,
  SocketListener,
} from "../core/ports/ports.ts";
