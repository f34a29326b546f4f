/**
 * Numbers of the system calls the filter has a rule for.
 *
 * From the kernel's own headers: `asm/unistd_64.h` for x86_64, `asm-generic/unistd.h` for aarch64, both for Linux 6.1;
 * calls younger than that have one number on every architecture.
 *
 * @module
 */

/** An architecture the filter is written for, as the kernel names it. */
export type Architecture = "x86_64" | "aarch64";

/** The highest number this list was made against (`file_setattr`, Linux 6.17): whatever comes later stays closed. */
export const HIGHEST_SYSCALL = 469;

/** Name → number on x86_64 and on aarch64; null where the call does not exist. */
const NUMBERS: Readonly<Record<string, readonly [x86_64: number, aarch64: number | null]>> = {
  clone: [56, 220],
  ioctl: [16, 29],
  personality: [135, 92],
  socket: [41, 198],
  socketpair: [53, 199],

  _sysctl: [156, null],
  acct: [163, 89],
  add_key: [248, 217],
  adjtimex: [159, 171],
  bpf: [321, 280],
  chroot: [161, 51],
  clock_adjtime: [305, 266],
  clock_settime: [227, 112],
  clone3: [435, 435],
  create_module: [174, null],
  delete_module: [176, 106],
  fanotify_init: [300, 262],
  finit_module: [313, 273],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fsopen: [430, 430],
  fspick: [433, 433],
  get_kernel_syms: [177, null],
  get_mempolicy: [239, 236],
  init_module: [175, 105],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  io_uring_setup: [425, 425],
  ioperm: [173, null],
  iopl: [172, null],
  kcmp: [312, 272],
  kexec_file_load: [320, 294],
  kexec_load: [246, 104],
  keyctl: [250, 219],
  listmount: [458, 458],
  lookup_dcookie: [212, 18],
  lsm_set_self_attr: [460, 460],
  mbind: [237, 235],
  memfd_secret: [447, 447],
  migrate_pages: [256, 238],
  modify_ldt: [154, null],
  mount: [165, 40],
  mount_setattr: [442, 442],
  move_mount: [429, 429],
  move_pages: [279, 239],
  nfsservctl: [180, 42],
  open_by_handle_at: [304, 265],
  open_tree: [428, 428],
  open_tree_attr: [467, 467],
  perf_event_open: [298, 241],
  pidfd_getfd: [438, 438],
  pivot_root: [155, 41],
  process_madvise: [440, 440],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  ptrace: [101, 117],
  query_module: [178, null],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  reboot: [169, 142],
  request_key: [249, 218],
  set_mempolicy: [238, 237],
  set_mempolicy_home_node: [450, 450],
  setdomainname: [171, 162],
  sethostname: [170, 161],
  setns: [308, 268],
  settimeofday: [164, 170],
  statmount: [457, 457],
  swapoff: [168, 225],
  swapon: [167, 224],
  sysfs: [139, null],
  syslog: [103, 116],
  umount2: [166, 39],
  unshare: [272, 97],
  uselib: [134, null],
  userfaultfd: [323, 282],
  ustat: [136, null],
  vhangup: [153, 58],
};

/** Returns the number of a call, or null when the architecture has none. Throws a `TypeError` for an unknown name. */
export function syscallNumber(name: string, arch: Architecture): number | null {
  const numbers = NUMBERS[name];
  if (!numbers) throw new TypeError(`No number is known for the system call "${name}"`);
  const [x86, arm] = numbers;
  return arch === "x86_64" ? x86 : arm;
}
