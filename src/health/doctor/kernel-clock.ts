import { dlopen, ptr } from 'bun:ffi'

/** `struct timex` of adjtimex(2): its size, or more, and where its status is. */
const structBytes = 256
const statusAt = 40
const unsynchronised = 0x40

/** Does something (chrony, timesyncd, ntpd) keep the machine's clock right, as far as the kernel knows? undefined: it does not tell. */
export function isClockSynchronized(): boolean | undefined {
  try {
    const { symbols, close } = dlopen('libc.so.6', { adjtimex: { args: ['ptr'], returns: 'i32' } })
    try {
      // All zero: it is asked, and changes nothing.
      const timex = Buffer.alloc(structBytes)
      return symbols.adjtimex(ptr(timex)) < 0 ? undefined : (timex.readInt32LE(statusAt) & unsynchronised) === 0
    } finally {
      close()
    }
  } catch {
    return undefined
  }
}
