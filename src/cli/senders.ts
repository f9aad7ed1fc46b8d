import { recordAuditEntry } from '../accounts/audit/audit.ts'
import { systemClock, toIso } from '../base/clock.ts'
import { inTransaction } from '../base/database/database.ts'
import { CommandError, UsageError } from '../base/operator-error.ts'
import { listSenders, readEntry, unlistSenders } from '../inbox/senders/senders.ts'
import { type SenderListing, type SenderListingRow, selectEntries } from '../inbox/senders/table.ts'
import { defineCommand, defineGroup } from './command.ts'
import { currentOperator } from './current-operator.ts'
import { databaseNote, withDatabase } from './database.ts'
import { requireOrganization } from './require-organization.ts'
import { limit, organizationId } from './values.ts'

const sender = { placeholder: 'SENDER', read: readSender }
const organization = { org: { ...organizationId, description: 'the organization', required: true } } as const

const list = defineCommand({
  name: 'senders list',
  summary: 'List the senders that an organization allows and blocks',
  options: {
    ...organization,
    after: { placeholder: 'SENDER', description: 'those after this one, in the order of the list', read: readSender },
    limit,
  },
  async run({ org, after = '', limit }, { env }) {
    const rows = await withDatabase(env, async db => {
      await requireOrganization(db, org)
      return await selectEntries(db, org, { after, limit })
    })
    return {
      json: rows.map(({ entry, listing, created_at }) => ({ sender: entry, listing, created_at: toIso(created_at) })),
      text: rows.map(({ entry, listing }) => `${listing}  ${entry}`).join('\n') || 'No sender is allowed or blocked.',
    }
  },
})

const allow = listingCommand('allow', {
  summary: 'Keep the mail of senders out of spam, whatever the spam filter says',
  details: `It overrides the spam filter only: mail that fails DMARC is filed as spam as before, and what the virus scanner found
stays in quarantine.`,
})

const block = listingCommand('block', {
  summary: 'File the mail of senders as spam',
  details: 'Their mail is accepted and filed as spam, also where there is no spam filter.',
})

const remove = defineCommand({
  name: 'senders remove',
  summary: 'Neither allow nor block senders any more',
  arguments: { senders: { ...sender, repeatable: true } },
  options: organization,
  async run({ senders, org }, { env }) {
    const entries = requireEntries(senders)
    const removed = await withDatabase(env, async db => {
      await requireOrganization(db, org)
      return await inTransaction(db, async tx => {
        const found = await unlistSenders(tx, org, entries)
        for (const subject of found)
          await recordAuditEntry(tx, currentOperator(env), { action: 'senders.remove', subject, organizationId: org })
        return found
      })
    })
    const missing = entries.filter(entry => !removed.includes(entry))
    return {
      json: { removed, not_found: missing },
      text: [
        ...removed.map(entry => `${entry} is neither allowed nor blocked now.`),
        ...missing.map(entry => `${entry} was not on the list.`),
      ].join('\n'),
    }
  },
})

function listingCommand(listing: SenderListing, described: { readonly summary: string; readonly details: string }) {
  return defineCommand({
    name: `senders ${listing}`,
    ...described,
    arguments: { senders: { ...sender, repeatable: true } },
    options: organization,
    async run({ senders, org }, { env }) {
      const entries = requireEntries(senders)
      const turned = await withDatabase(env, async db => {
        await requireOrganization(db, org)
        return await inTransaction(db, async tx => {
          const listed = await listSenders(tx, systemClock, org, { entries, listing })
          if (listed.kind === 'too_many')
            throw new CommandError(
              `${org} may list ${listed.most} senders; nothing was changed. Remove some, or list their domains.`,
            )
          for (const subject of listed.changed)
            await recordAuditEntry(tx, currentOperator(env), {
              action: `senders.${listing}`,
              subject,
              organizationId: org,
            })
          return new Map(listed.turned.map(row => [row.entry, row]))
        })
      })
      const lines = entries.map(entry => {
        const before = turned.get(entry)
        const was = before
          ? ` It had been ${words[before.listing]} since ${toIso(before.created_at).slice(0, 10)}.`
          : ''
        return `${entry} is ${words[listing]}.${was}`
      })
      return {
        json: entries.map(entry => ({ sender: entry, listing, replaced: replacedBy(turned.get(entry)) })),
        text: lines.join('\n'),
      }
    },
  })
}

function replacedBy(before: SenderListingRow | undefined) {
  return before ? { listing: before.listing, created_at: toIso(before.created_at) } : null
}

const words: Readonly<Record<SenderListing, string>> = { allow: 'allowed', block: 'blocked' }

export const sendersCommand = defineGroup(
  'senders',
  `A sender is an address, or a domain, which stands for its subdomains too; the nearest entry counts. It is compared with the
address in From; a blocked one with the reverse-path as well. ${databaseNote}`,
  [list, allow, block, remove],
)

function readSender(text: string): string {
  const entry = readEntry(text)
  if (entry === undefined)
    throw new UsageError(`"${text}" is neither an address such as ann@example.com nor a domain such as example.com`)
  return entry
}

const maxEntriesAtOnce = 1000

/** Each once. @throws UsageError */
function requireEntries(senders: readonly string[]): readonly string[] {
  const entries = [...new Set(senders)]
  if (entries.length === 0) throw new UsageError('say which senders: an address or a domain')
  if (entries.length > maxEntriesAtOnce) throw new UsageError(`at most ${maxEntriesAtOnce} senders at once`)
  return entries
}
