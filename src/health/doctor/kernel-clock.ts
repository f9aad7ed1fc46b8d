import { dlopen, ptr } from 'bun:ffi'

/** `struct timex` of adjtimex(2): at least its size, and the offset of its status. */
const structBytes = 256
const statusOffset = 40
const unsynchronised = 0x40

/** Does the kernel report that chrony, timesyncd or ntpd synchronizes the clock? undefined: it cannot be asked. */
export function isClockSynchronized(): boolean | undefined {
  try {
    const { symbols, close } = dlopen('libc.so.6', { adjtimex: { args: ['ptr'], returns: 'i32' } })
    try {
      // All zero: adjtimex only reads.
      const timex = Buffer.alloc(structBytes)
      return symbols.adjtimex(ptr(timex)) < 0 ? undefined : (timex.readInt32LE(statusOffset) & unsynchronised) === 0
    } finally {
      close()
    }
  } catch {
    return undefined
  }
}
