/**
 * The versions that this host sends on the wire.
 *
 * @module
 */

/** The package's version; a test keeps it equal to the one in `deno.json`. */
export const HOST_VERSION: string = "0.1.0";

/** The plugin API version this host speaks. */
export const API_VERSION: number = 1;
