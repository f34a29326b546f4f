import assert from "node:assert/strict";
import { test } from "node:test";
import { assemble } from "../../../../src/core/cage/seccomp/assemble.ts";
import { seccompProgram } from "../../../../src/core/cage/seccomp/seccomp_program.ts";
import { runFilter } from "../../../support/bpf_machine.ts";

type Arch = "x86_64" | "aarch64";
const ARCHES: readonly Arch[] = ["x86_64", "aarch64"];
const AUDIT: Readonly<Record<Arch, number>> = { x86_64: 0xc000003e, aarch64: 0xc00000b7 };
const [ALLOW, KILL] = [0x7fff0000, 0x80000000];
const [EPERM, ENOSYS, EOPNOTSUPP, EAFNOSUPPORT] = [0x50001, 0x50026, 0x5005f, 0x50061];

const closed = { allowUnix: false };
const judge = (arch: Arch, number: number, args: readonly (bigint | number)[] = [], allowUnix = false): number =>
  runFilter(seccompProgram(arch, { allowUnix }), { number, arch: AUDIT[arch], args: args.map(BigInt) });

/** Written down a second time, by number, so that a slip in the source shows: x86_64 then aarch64. */
const REFUSED: Readonly<Record<Arch, readonly number[]>> = {
  x86_64: [
    ...[101, 103, 134, 153, 154, 155, 159, 161, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 173, 174, 175, 176],
    ...[177, 178, 179, 212, 227, 237, 238, 239, 246, 248, 249, 250, 256, 272, 279, 298, 300, 304, 305, 308, 310, 311],
    ...[312, 313, 320, 321, 323, 438, 440, 443, 450, 460],
  ],
  aarch64: [
    ...[18, 39, 40, 41, 51, 58, 60, 89, 97, 104, 105, 106, 112, 116, 117, 142, 161, 162, 170, 171, 217, 218, 219, 224],
    ...[225, 235, 236, 237, 238, 239, 241, 262, 265, 266, 268, 270, 271, 272, 273, 280, 282, 294, 438, 440, 443, 450],
    ...[460],
  ],
};
const ABSENT: Readonly<Record<Arch, readonly number[]>> = {
  x86_64: [136, 139, 156, 180, 425, 426, 427, 428, 429, 430, 431, 432, 433, 435, 437, 442, 447, 452, 457, 458, 467],
  aarch64: [42, 425, 426, 427, 428, 429, 430, 431, 432, 433, 435, 437, 442, 447, 452, 457, 458, 467],
};
const UNSUPPORTED: Readonly<Record<Arch, readonly number[]>> = {
  x86_64: [188, 189, 190, 197, 198, 199, 463, 466, 469],
  aarch64: [5, 6, 7, 14, 15, 16, 463, 466, 469],
};
const BY_ARGUMENT: Readonly<Record<Arch, Readonly<Record<string, number>>>> = {
  x86_64: { clone: 56, ioctl: 16, personality: 135, socket: 41, socketpair: 53 },
  aarch64: { clone: 220, ioctl: 29, personality: 92, socket: 198, socketpair: 199 },
};
/** Calls that give a mode: which argument it is. Those that open look at it only where they create. */
const MODES: Readonly<Record<Arch, Readonly<Record<number, number>>>> = {
  x86_64: { 85: 1, 90: 1, 91: 1, 268: 2, 83: 1, 258: 2, 133: 1, 259: 2 },
  aarch64: { 52: 1, 53: 2, 34: 2, 33: 2 },
};
const OPENS: Readonly<Record<Arch, Readonly<Record<number, number>>>> = {
  x86_64: { 2: 1, 257: 2 },
  aarch64: { 56: 2 },
};
const RENAME: Readonly<Record<Arch, number>> = { x86_64: 316, aarch64: 276 };

test("the filter gives every number its action, on both architectures", () => {
  for (const arch of ARCHES) {
    const byArgument = Object.values(BY_ARGUMENT[arch]);
    for (let number = 0; number <= 469; number++) {
      if (byArgument.includes(number)) continue;
      const [action = ALLOW] = [
        ...(REFUSED[arch].includes(number) ? [EPERM] : []),
        ...(ABSENT[arch].includes(number) ? [ENOSYS] : []),
        ...(UNSUPPORTED[arch].includes(number) ? [EOPNOTSUPP] : []),
      ];
      assert.equal(judge(arch, number), action, `${arch} ${number}`);
    }
  }
});

test("calls that runtimes live on stay open", () => {
  const open: Readonly<Record<Arch, readonly number[]>> = {
    // memfd_create pidfd_open epoll_pwait2 copy_file_range statx rseq membarrier pkey_* mknodat vfork prctl seccomp
    x86_64: [319, 434, 441, 326, 332, 334, 324, 329, 330, 331, 259, 58, 157, 317],
    aarch64: [279, 434, 441, 285, 291, 293, 283, 288, 289, 290, 33, 167, 277],
  };
  for (const arch of ARCHES) for (const number of open[arch]) assert.equal(judge(arch, number), ALLOW, `${number}`);
});

test("a call of another architecture ends the process, whatever its number", () => {
  const others = [0x40000003, 0x40000028, 0xc0000015, 0];
  for (const arch of ARCHES) {
    for (const other of [...others, AUDIT[arch === "x86_64" ? "aarch64" : "x86_64"]]) {
      for (const number of [0, 39, 469, 470]) {
        assert.equal(runFilter(seccompProgram(arch, closed), { number, arch: other }), KILL);
      }
    }
  }
});

test("numbers above the known ones do not exist: new calls, x32 calls, negative ones", () => {
  for (const arch of ARCHES) {
    for (const number of [470, 512, 547, 1000, 0x40000000, 0x40000000 + 39, 0x40000000 + 520, 0x7fffffff, 0xffffffff]) {
      assert.equal(judge(arch, number), ENOSYS, `${arch} ${number}`);
    }
    assert.equal(judge(arch, 468), ALLOW);
  }
});

test("clone makes threads and processes, and no namespace, alone or among other flags", () => {
  const threads = 0x3d0f00;
  const namespaces = [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000];
  for (const arch of ARCHES) {
    const { clone } = BY_ARGUMENT[arch];
    for (const flags of [0, 17, threads, 0x4111, 0x80000000]) assert.equal(judge(arch, clone!, [flags]), ALLOW);
    assert.equal(judge(arch, clone!, [threads & ~0x400]), EPERM, "a thread with descriptors of its own");
    for (const flags of [0, 4]) assert.equal(judge(arch, 436, [3, 9, flags]), ALLOW);
    for (const flags of [2, 6]) assert.equal(judge(arch, 436, [3, 9, flags]), EPERM);
    for (const flag of namespaces) {
      assert.equal(judge(arch, clone!, [flag]), EPERM, `${flag}`);
      assert.equal(judge(arch, clone!, [flag | 17]), EPERM);
      assert.equal(judge(arch, clone!, [0xffffffff00000000n + BigInt(flag)]), EPERM);
    }
  }
});

test("ioctl types nothing into a terminal and sets no attribute of a file, also with bits set that the kernel drops", () => {
  for (const arch of ARCHES) {
    const { ioctl } = BY_ARGUMENT[arch];
    for (const request of [0x5412n, 0x541cn]) {
      assert.equal(judge(arch, ioctl!, [0, request]), EPERM);
      assert.equal(judge(arch, ioctl!, [0, request | 0xdead00000000n]), EPERM);
    }
    for (const request of [0x40086602, 0x401c5820]) assert.equal(judge(arch, ioctl!, [0, request]), EOPNOTSUPP);
    for (const request of [0x5401, 0x5413, 0x541b, 0x5421]) assert.equal(judge(arch, ioctl!, [0, request]), ALLOW);
  }
});

test("no call gives a set-id mode, also with bits set that the kernel drops; other modes pass", () => {
  const dropped = 0xdead00000000n;
  for (const arch of ARCHES) {
    for (const [number, at] of Object.entries(MODES[arch])) {
      const withMode = (mode: bigint): number => judge(arch, Number(number), [...Array(at).fill(0x400040), mode]);
      for (const mode of [0o4000n, 0o2000n, 0o6755n, 0o104755n]) {
        assert.equal(withMode(mode), EPERM, `${arch} ${number}`);
        assert.equal(withMode(mode | dropped), EPERM);
      }
      for (const mode of [0n, 0o644n, 0o1777n, 0o100755n, 0o010600n, 0o140755n]) assert.equal(withMode(mode), ALLOW);
    }
    for (const [number, at] of Object.entries(OPENS[arch])) {
      const open = (flags: number, mode: number): number =>
        judge(arch, Number(number), [...Array(at).fill(0), flags, mode]);
      for (const flags of [0o100, 0o101, 0o1102, 0o20200002, 0o20000000]) {
        assert.equal(open(flags, 0o4755), EPERM, `${arch} ${number} ${flags}`);
        assert.equal(open(flags, 0o2755), EPERM);
        assert.equal(open(flags, 0o755), ALLOW);
      }
      for (const flags of [0, 1, 2, 0o2000000, 0o200000]) assert.equal(open(flags, 0o6755), ALLOW);
    }
  }
});

test("no call makes a device: neither by its type, nor by renaming", () => {
  for (const arch of ARCHES) {
    const makes: readonly [number, number][] = arch === "x86_64" ? [[133, 1], [259, 2]] : [[33, 2]];
    for (const [number, at] of makes) {
      for (const type of [0o020000, 0o060000]) {
        assert.equal(judge(arch, number, [...Array(at).fill(0), type | 0o600, 0]), EPERM);
      }
    }
    for (const flags of [4, 5, 6]) assert.equal(judge(arch, RENAME[arch], [0, 0, 0, 0, flags]), EPERM);
    for (const flags of [0, 1, 2]) assert.equal(judge(arch, RENAME[arch], [0, 0, 0, 0, flags]), ALLOW);
  }
});

test("personality can be asked, and set to none but the usual", () => {
  for (const arch of ARCHES) {
    const { personality } = BY_ARGUMENT[arch];
    for (const value of [0, 0xffffffff]) assert.equal(judge(arch, personality!, [value]), ALLOW);
    for (const value of [8, 0x40000, 0x400000, 0xfffffffe]) assert.equal(judge(arch, personality!, [value]), EPERM);
  }
});

test("socket gives the internet and routing; unix sockets only to a cage that allows them", () => {
  const families = Array.from({ length: 47 }, (_, family) => family);
  for (const arch of ARCHES) {
    const { socket } = BY_ARGUMENT[arch];
    for (const allowUnix of [false, true]) {
      const open = families.filter((family) => judge(arch, socket!, [family, 1, 0], allowUnix) === ALLOW);
      assert.deepEqual(open, allowUnix ? [1, 2, 10, 16] : [2, 10, 16]);
      for (const protocol of [1, 2, 4, 9, 12, 15, 16, 21]) {
        assert.equal(judge(arch, socket!, [16, 3, protocol], allowUnix), EAFNOSUPPORT);
      }
      for (const family of [3, 17, 38, 40, 44]) {
        assert.equal(judge(arch, socket!, [family, 3, 0], allowUnix), EAFNOSUPPORT);
      }
    }
    assert.equal(judge(arch, socket!, [0xff00000001n, 1, 0]), EAFNOSUPPORT);
  }
});

test("socketpair gives unix sockets alone", () => {
  for (const arch of ARCHES) {
    const { socketpair } = BY_ARGUMENT[arch];
    assert.equal(judge(arch, socketpair!, [1, 1, 0]), ALLOW);
    for (const family of [0, 2, 10, 16, 30]) assert.equal(judge(arch, socketpair!, [family, 1, 0]), EAFNOSUPPORT);
  }
});

test("another processor gets no filter, and so no cage", () => {
  for (const arch of ["riscv64", "arm", "ia32", "", "constructor"]) {
    assert.throws(() => seccompProgram(arch, closed), { code: "cage.unsupported" });
  }
});

test("assemble() refuses a jump that one byte cannot count, a jump back, and an unknown place", () => {
  const filler = Array.from({ length: 256 }, () => ({ load: 0 }));
  assert.throws(() => assemble([{ jump: "eq", value: 0, then: "end" }, ...filler, { label: "end" }, { give: 0 }]), {
    name: "RangeError",
  });
  assert.throws(() => assemble([{ label: "top" }, { load: 0 }, { jump: "eq", value: 0, then: "top" }]), RangeError);
  assert.throws(() => assemble([{ jump: "eq", value: 0, then: "nowhere" }]), RangeError);
  assert.equal(assemble([{ jump: "eq", value: 0, then: "end" }, { label: "end" }, { give: 0 }]).length, 16);
});
