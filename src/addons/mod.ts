/**
 * What to do with the news: loggers and webhooks.
 *
 * @module
 */
export {};
