/**
 * The filter every cage has on its system calls: what is known to reach out of a namespace is closed, and so is every
 * call younger than this list. Pure: the same bytes for the same arguments.
 *
 * Arguments are compared by their low 32 bits, which is all the kernel looks at for each of them.
 *
 * @module
 */
import { HostError } from "../../errors/host_error.ts";
import { ARCH_OFFSET, argumentOffset, assemble, type Instruction, NUMBER_OFFSET } from "./assemble.ts";
import { ABSENT, HIGHEST_SYSCALL, JUDGED, REFUSED, type Syscalls, UNSUPPORTED } from "./syscalls.ts";

/** By the kernel's name of an architecture: its number in the data of a call, and its column in {@link Syscalls}. */
const ARCHITECTURES: ReadonlyMap<string, readonly [audit: number, column: 0 | 1]> = new Map([
  ["x86_64", [0xc000003e, 0]],
  ["aarch64", [0xc00000b7, 1]],
]);

const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const errno = (number: number): number => 0x00050000 | number;
const EPERM = 1;
const ENOSYS = 38;
const EOPNOTSUPP = 95;
const EAFNOSUPPORT = 97;

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const NEW_NAMESPACES = 0x7e020000;
const CLONE_FILES = 0x400;
const CLONE_THREAD = 0x10000;
const CLOSE_RANGE_UNSHARE = 2;
/** S_ISUID and S_ISGID. */
const SET_ID = 0o6000;
/** A bit that only the types of block and character devices have, of those that can be made. */
const DEVICE = 0o020000;
/** O_CREAT and O_TMPFILE: without one of them the kernel does not look at the mode, which may be anything then. */
const CREATES = 0x400040;
/** Leaves a character device in the place of the renamed file. */
const RENAME_WHITEOUT = 4;
const FS_IOC_SETFLAGS = 0x40086602;
const FS_IOC_FSSETXATTR = 0x401c5820;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
/** `personality(0xffffffff)` asks without changing anything. */
const PERSONALITY_QUERY = 0xffffffff;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;

/**
 * Returns the filter for an architecture, in the layout of `struct sock_filter`. `allowUnix` lets unix sockets be
 * opened: only by a cage whose network goes through one.
 *
 * @throws {HostError} `cage.unsupported` for an architecture without a list of numbers.
 */
export function seccompProgram(arch: string, { allowUnix }: { readonly allowUnix: boolean }): Uint8Array {
  const [audit, column] = ARCHITECTURES.get(arch) ?? [];
  if (audit === undefined || column === undefined) {
    throw new HostError("cage.unsupported", `Cannot cage plugins on the processor "${arch}"`, {
      data: { arch },
      hint: "Use a machine with an x86_64 or aarch64 processor",
    });
  }
  const jumps = (calls: Syscalls, target?: string): Instruction[] =>
    Object.entries(calls).flatMap(([name, { [column]: value }]) =>
      value === null ? [] : [{ jump: "eq", value, then: target ?? name }]
    );
  return assemble([
    // The 32-bit calls of a 64-bit processor have numbers of their own: none of the rules below would fit them.
    { load: ARCH_OFFSET },
    { jump: "eq", value: audit, else: "kill" },
    { load: NUMBER_OFFSET },
    // Unsigned: the x32 calls of x86_64 begin at 0x40000000.
    { jump: "gt", value: HIGHEST_SYSCALL, then: "absent" },
    ...jumps(JUDGED),
    ...jumps(REFUSED, "refused"),
    ...jumps(ABSENT, "absent"),
    ...jumps(UNSUPPORTED, "unsupported"),
    { give: ALLOW },
    ...modeRules(),
    ...argumentRules(allowUnix),
    { label: "allow" },
    { give: ALLOW },
    { label: "refused" },
    { give: errno(EPERM) },
    { label: "absent" },
    { give: errno(ENOSYS) },
    { label: "unsupported" },
    { give: errno(EOPNOTSUPP) },
    { label: "no family" },
    { give: errno(EAFNOSUPPORT) },
    { label: "kill" },
    { give: KILL_PROCESS },
  ]);
}

/**
 * The calls that give a file its mode. A set-id file in a writable folder is the host's user's own outside the cage, so
 * whoever runs it becomes that user: root, if root runs the host. The rules cover folders too: a filter sees no path.
 */
function modeRules(): Instruction[] {
  const at = (index: number, refused: number, ...names: readonly string[]): Instruction[] => [
    ...names.map((label) => ({ label })),
    { load: argumentOffset(index) },
    { jump: "set", value: refused, then: "refused", else: "allow" },
  ];
  const creating = (name: string, flags: number): Instruction[] => [
    { label: name },
    { load: argumentOffset(flags) },
    { jump: "set", value: CREATES, else: "allow" },
    { load: argumentOffset(flags + 1) },
    { jump: "set", value: SET_ID, then: "refused", else: "allow" },
  ];
  return [
    ...creating("openat", 2),
    ...creating("open", 1),
    ...at(1, SET_ID, "creat", "chmod", "fchmod", "mkdir"),
    ...at(2, SET_ID, "fchmodat", "mkdirat"),
    ...at(1, SET_ID | DEVICE, "mknod"),
    ...at(2, SET_ID | DEVICE, "mknodat"),
    ...at(4, RENAME_WHITEOUT, "renameat2"),
  ];
}

/** The other calls that are judged by an argument. */
function argumentRules(allowUnix: boolean): Instruction[] {
  return [
    { label: "clone" },
    { load: argumentOffset(0) },
    { jump: "set", value: NEW_NAMESPACES, then: "refused" },
    // A thread has the descriptors of its process: with some of its own it could hold memory where nobody looks.
    { jump: "set", value: CLONE_THREAD, else: "allow" },
    { jump: "set", value: CLONE_FILES, then: "allow", else: "refused" },
    { label: "close_range" },
    { load: argumentOffset(2) },
    { jump: "set", value: CLOSE_RANGE_UNSHARE, then: "refused", else: "allow" },
    // Pushing characters into a terminal is typing as whoever sits there.
    { label: "ioctl" },
    { load: argumentOffset(1) },
    { jump: "eq", value: TIOCSTI, then: "refused" },
    { jump: "eq", value: TIOCLINUX, then: "refused" },
    // Attributes of a file, as file_setattr sets them.
    { jump: "eq", value: FS_IOC_SETFLAGS, then: "unsupported" },
    { jump: "eq", value: FS_IOC_FSSETXATTR, then: "unsupported", else: "allow" },
    { label: "personality" },
    { load: argumentOffset(0) },
    { jump: "eq", value: 0, then: "allow" },
    { jump: "eq", value: PERSONALITY_QUERY, then: "allow", else: "refused" },
    { label: "socket" },
    { load: argumentOffset(0) },
    { jump: "eq", value: AF_INET, then: "allow" },
    { jump: "eq", value: AF_INET6, then: "allow" },
    ...(allowUnix ? [{ jump: "eq", value: AF_UNIX, then: "allow" } as const] : []),
    { jump: "eq", value: AF_NETLINK, else: "no family" },
    // Of netlink only routing, from which a program learns its own addresses.
    { load: argumentOffset(2) },
    { jump: "eq", value: 0, then: "allow", else: "no family" },
    { label: "socketpair" },
    { load: argumentOffset(0) },
    { jump: "eq", value: AF_UNIX, then: "allow", else: "no family" },
  ];
}
