import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { newSortableToken } from '../../base/ids.ts'
import { type Provider, type Submission, type SubmissionOutcome, withdrawnOutcome } from './port.ts'

export interface SandboxOptions {
  /** Stores an accepted submission; awaited before the outcome is returned. */
  readonly store: (submission: Submission) => Promise<void>
}

const submissionsAtOnce = 10

const accepted: SubmissionOutcome = {
  kind: 'accepted',
  reply: { phase: 'final-dot', code: 250, enhancedCode: '2.0.0', text: 'Stored in the sandbox' },
  providerMessageId: null,
}

/** Accepts everything and delivers nothing: for trying Mailroom without a relay. */
export function sandboxProvider({ store }: SandboxOptions): Provider {
  return {
    traits: {
      name: 'sandbox',
      returnPath: 'ours',
      messageId: 'kept',
      unsignedHeaders: [],
      reports: 'none',
      smtputf8: false,
      multipleRecipients: true,
      maxConcurrentSubmissions: submissionsAtOnce,
    },
    async submit(submission) {
      if (!submission.mayBeAccepted()) return submission.recipients.map(() => withdrawnOutcome('final-dot'))
      await store(submission)
      return submission.recipients.map(() => accepted)
    },
    checkHealth: () => Promise.resolve(null),
    close: () => Promise.resolve(),
  }
}

/**
 * Stores messages as `.eml` files in `folder`, the newest `maxFiles` of them, each with its envelope in front as the header
 * fields Return-Path and Delivered-To.
 */
export function storeInFolder(folder: string, maxFiles: number): SandboxOptions['store'] {
  let names: Promise<string[]> | undefined
  const list = async () => {
    await mkdir(folder, { recursive: true })
    return (await readdir(folder)).filter(name => name.endsWith('.eml')).sort()
  }
  return async ({ mailFrom, recipients, message }) => {
    names ??= list()
    const stored = await names
    const name = `${newSortableToken()}.eml`
    stored.push(name)
    const envelope = [`Return-Path: <${mailFrom}>`, ...recipients.map(recipient => `Delivered-To: ${recipient}`), '']
    await Bun.write(join(folder, name), Buffer.concat([Buffer.from(envelope.join('\r\n')), message]))
    await Promise.all(stored.splice(0, stored.length - maxFiles).map(old => rm(join(folder, old), { force: true })))
  }
}
