import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { newSortableToken } from '../../base/ids.ts'
import type { Outcome, Provider, Reply, Submission } from './port.ts'

export interface SandboxOptions {
  /** Called with all that is taken; what it does is done before the submission is answered. */
  readonly keep: (submission: Submission) => Promise<void>
}

const submissionsAtOnce = 10

/**
 * Takes everything and delivers nothing, for trying without a relay. Recipients at `simulator.test` show what else may
 * happen, by their local part: `bounce`, `reject`, `delay`.
 */
export function sandboxProvider({ keep }: SandboxOptions): Provider {
  return {
    traits: {
      name: 'sandbox',
      returnPath: 'ours',
      messageId: 'kept',
      reports: 'none',
      smtputf8: false,
      grouped: true,
      submissionsAtOnce,
    },
    async submit(submission) {
      const outcomes = submission.recipients.map(simulated)
      const taken = submission.recipients.filter((_, i) => outcomes[i]?.kind === 'accepted')
      if (taken.length > 0) await keep({ ...submission, recipients: taken })
      return outcomes
    },
    trouble: () => Promise.resolve(null),
    close: () => Promise.resolve(),
  }
}

function simulated(recipient: string): Outcome {
  switch (recipient) {
    case 'bounce@simulator.test':
      return { kind: 'failed', reply: reply('rcpt', 550, '5.1.1', 'No such user (simulated)') }
    case 'reject@simulator.test':
      return { kind: 'failed', reply: reply('final-dot', 554, '5.6.0', 'Content refused (simulated)') }
    case 'delay@simulator.test':
      return { kind: 'deferred', reply: reply('rcpt', 451, '4.7.1', 'Try again later (simulated)'), ambiguous: false }
    default:
      return {
        kind: 'accepted',
        reply: reply('final-dot', 250, '2.0.0', 'Kept in the sandbox'),
        providerMessageId: null,
      }
  }
}

function reply(phase: Reply['phase'], code: number, enhancedCode: string, text: string): Reply {
  return { phase, code, enhancedCode, text }
}

/**
 * Keeps messages as `.eml` files in `folder`, the newest `maxFiles` of them, each with its envelope as the header fields
 * Return-Path and Delivered-To in front.
 */
export function keepInFolder(folder: string, maxFiles: number): SandboxOptions['keep'] {
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
    const envelope = [`Return-Path: <${mailFrom}>`, ...recipients.map(each => `Delivered-To: ${each}`), '']
    await Bun.write(join(folder, name), Buffer.concat([Buffer.from(envelope.join('\r\n')), message]))
    await Promise.all(kept.splice(0, kept.length - maxFiles).map(old => rm(join(folder, old), { force: true })))
  }
}
