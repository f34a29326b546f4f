/**
 * The data between the steps of taking an MCP server in: wish → fetched tree → draft → trial → plan.
 *
 * @module
 */

/** Where a server comes from. */
export type ServerSource =
  | {
    readonly kind: "npm";
    readonly package: string;
    /** Version, range or tag; empty for the newest. */
    readonly range: string;
  }
  | {
    readonly kind: "folder";
    /** Absolute path. */
    readonly path: string;
    /** The file to start, relative to the folder; null where the folder's package.json names it. */
    readonly entry: string | null;
  }
  | {
    readonly kind: "bundle";
    /** Absolute path of a `.mcpb` or `.dxt` file. */
    readonly path: string;
  }
  | { readonly kind: "remote"; readonly url: string };

/** A value that the file of a client asks its user for: an input of VS Code, or a `user_config` of a bundle. */
export interface AskedValue {
  readonly description: string;
  readonly isSecret: boolean;
  readonly isRequired: boolean;
  /** Value when nobody says another; null without one. */
  readonly fallback: string | null;
}

/** A server that somebody wants, as the command line or one entry of a client's file describes it. */
export interface ServerWish {
  /** Name of the entry; null on the command line. */
  readonly name: string | null;
  readonly source: ServerSource;
  /** Arguments behind the program, variables not filled in. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Headers of a remote server. */
  readonly headers: Readonly<Record<string, string>>;
  /** Values that texts refer to: `input:token`, `user_config.token`. */
  readonly asked: Readonly<Record<string, AskedValue>>;
}

/** An entry of a client's file, or why it cannot be taken over. */
export type ReadEntry =
  | { readonly name: string; readonly wish: ServerWish }
  | { readonly name: string; readonly refusal: Refusal };

/** Why something cannot be taken over, and the next step. */
export interface Refusal {
  readonly reason: string;
  readonly hint: string;
}

/** Facts about a server, from its package.json or the manifest of its bundle. */
export interface ServerFacts {
  /** The package's or the bundle's name, as written. */
  readonly title: string;
  readonly version: string;
  readonly description: string;
  readonly author?: string;
  readonly license?: string;
  readonly homepage?: string;
}

/** A server's files, fetched and not yet run. */
export interface FetchedServer {
  readonly dir: string;
  readonly facts: ServerFacts;
  /** Program and file, and the arguments that the source itself gives. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly asked: Readonly<Record<string, AskedValue>>;
  /** Whether the folder brings a kaged-plugin.yaml of its own. */
  readonly isPlugin: boolean;
}

/** A secret that the server needs, without its value. */
export interface SecretNeed {
  /** Field of system_config_schema. */
  readonly key: string;
  /** Variable or header that carries it. */
  readonly carrier: { readonly env: string } | { readonly header: string; readonly prefix: string };
  readonly description: string;
  readonly isRequired: boolean;
  /** Where its value is, as far as the wish says. */
  readonly value: SecretValue;
}

/** The value of a secret: in the file, in a variable of the host's environment, or yet to be asked for. */
export type SecretValue =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "reference"; readonly text: string }
  | { readonly kind: "unset" };

/** Settings of a server, sorted into plain and secret ones. */
export interface SortedValues {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly SecretNeed[];
  /** Settings without a value, by the variable or argument that needs it. */
  readonly missing: readonly MissingValue[];
}

/** A setting that nothing gives a value to. */
export interface MissingValue {
  /** Variable, or the text of the argument. */
  readonly where: string;
  /** Name in {@link ServerWish.asked}, or the variable of the environment that is not set. */
  readonly name: string;
  readonly description: string;
}
