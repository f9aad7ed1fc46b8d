import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { newSortableToken } from '../../base/ids.ts'
import type { Provider, Submission, SubmissionOutcome } from './port.ts'

export interface SandboxOptions {
  /** Called with all that is taken; what it does is done before the submission is answered. */
  readonly store: (submission: Submission) => Promise<void>
}

const submissionsAtOnce = 10

const taken: SubmissionOutcome = {
  kind: 'accepted',
  reply: { phase: 'final-dot', code: 250, enhancedCode: '2.0.0', text: 'Kept in the sandbox' },
  providerMessageId: null,
}

/** Takes everything and delivers nothing, for trying without a relay. */
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
      await store(submission)
      return submission.recipients.map(() => taken)
    },
    checkHealth: () => Promise.resolve(null),
    close: () => Promise.resolve(),
  }
}

/**
 * Keeps messages as `.eml` files in `folder`, the newest `maxFiles` of them, each with its envelope as the header fields
 * Return-Path and Delivered-To in front.
 */
export function storeInFolder(folder: string, maxFiles: number): SandboxOptions['store'] {
  let names: Promise<string[]> | undefined
  const list = async () => {
    await mkdir(folder, { recursive: true })
    return (await readdir(folder)).filter(name => name.endsWith('.eml')).sort()
  }
  return async ({ mailFrom, recipients, message }) => {
    names ??= list()
    const kept = await names
    const name = `${newSortableToken()}.eml`
    kept.push(name)
    const envelope = [`Return-Path: <${mailFrom}>`, ...recipients.map(recipient => `Delivered-To: ${recipient}`), '']
    await Bun.write(join(folder, name), Buffer.concat([Buffer.from(envelope.join('\r\n')), message]))
    await Promise.all(kept.splice(0, kept.length - maxFiles).map(old => rm(join(folder, old), { force: true })))
  }
}
