/**
 * The permissions of Deno that a host needs.
 *
 * @module
 */

/** A permission as Deno describes it, and the flag that grants it. */
interface Need {
  readonly flag: string;
  readonly name: "read" | "write" | "run" | "env" | "sys";
  readonly path?: string;
  readonly kind?: string;
}

/** Returns the flags that are missing, for a host whose folder is `home`; see `docs/embed-deno.md`. */
export function missingPermissions(home: string | null): string[] {
  const { Deno } = globalThis as unknown as {
    Deno: { permissions: { querySync(need: Omit<Need, "flag">): { readonly state: string } } };
  };
  const needs: readonly Need[] = [
    { flag: "--allow-run", name: "run" },
    { flag: "--allow-env", name: "env" },
    { flag: "--allow-sys=uid,statfs", name: "sys", kind: "uid" },
    { flag: "--allow-sys=uid,statfs", name: "sys", kind: "statfs" },
    { flag: "--allow-read", name: "read", path: "/usr" },
    ...(home === null ? [] : [
      { flag: "--allow-read", name: "read", path: home } as const,
      { flag: `--allow-write=${home}`, name: "write", path: home } as const,
    ]),
  ];
  const missing = needs.filter(({ flag: _, ...need }) => Deno.permissions.querySync(need).state !== "granted");
  return [...new Set(missing.map(({ flag }) => flag))];
}
