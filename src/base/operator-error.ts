/** A command fails for a reason that its user can fix; the message is a sentence for them. Exit status 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

/** A command was called with wrong arguments; the message says what is wrong. Exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
