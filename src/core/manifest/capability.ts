/**
 * The capability grammar: what a plugin may ask for, one string each.
 *
 * @module
 */

/** A capability, taken apart. */
export type Capability =
  | { readonly kind: "fs"; readonly access: "read" | "write"; readonly path: string }
  | { readonly kind: "exec"; readonly binary: string; readonly path: string }
  | { readonly kind: "net"; readonly scope: "none" | "all" }
  | { readonly kind: "net"; readonly scope: "host"; readonly host: string; readonly port: number | "*" }
  | { readonly kind: "storage"; readonly access: "read" | "write" };
