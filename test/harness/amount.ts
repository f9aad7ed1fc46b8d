/** Whether the tests run in their long form, in which they repeat their faults more often and move more mail. */
export const isLong = process.env['MAILROOM_TEST_LONG'] === '1'

/**
 * How often a test repeats a fault, or how much mail it moves: `short` by default, which shows the same faults, and `long`
 * where MAILROOM_TEST_LONG is 1.
 */
export const amount = <Value>({ short, long }: { readonly short: Value; readonly long: Value }): Value =>
  isLong ? long : short
