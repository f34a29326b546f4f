"""Takes 1.5 GiB in 16 MiB parts in the way it is given, prints a line at 512 MiB, and waits to be ended."""
import mmap
import os
import sys
import time

PART = 16 << 20
held = []


def memfd():
    fd = os.memfd_create("hog")
    os.write(fd, bytes(PART))
    return fd


def closed():
    fd = memfd()
    part = mmap.mmap(fd, PART)
    os.close(fd)
    return part


def shared():
    part = mmap.mmap(-1, PART)
    for at in range(0, PART, 4096):
        part[at] = 1
    return part


def given_back():
    part = shared()
    part.madvise(mmap.MADV_DONTNEED)
    return part


for taken in range(0, 1536, 16):
    if taken == 512:
        print("512 MiB", flush=True)
    held.append({"memfd": memfd, "closed": closed, "shared": shared, "given back": given_back}[sys.argv[1]]())
time.sleep(60)
