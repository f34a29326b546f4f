/**
 * What to do with the news: loggers and webhooks. Each hears the events of a host, and none can reach into its work.
 *
 * @module
 */
export type { EventSource } from "./event_source.ts";
export { type ConsoleLoggerOptions, createConsoleLogger } from "./console_logger.ts";
export { createFileLogger, type FileLogger, type FileLoggerOptions } from "./file_logger.ts";
export type { LogRotation } from "./log_place.ts";
export type {
  AnyEvent,
  EmittedEvents,
  EmittedName,
  EventName,
  Events,
  SummaryEvents,
  TokenUsage,
  TraceEvents,
} from "../core/events/types.ts";
export type { Size } from "../core/messages.ts";
export type { Clock, FileInfo, Files } from "../core/ports.ts";
