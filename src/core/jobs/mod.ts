/**
 * Background runs of agents.
 *
 * @module
 */
export {};
