/**
 * The HTTP API: one function from a request to its response.
 *
 * @module
 */
export {};
