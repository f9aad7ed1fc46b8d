import { canonicalEmail } from '../accounts/members/schema.ts'
import { fromIso, type Instant } from '../base/clock.ts'
import { type Id, type IdPrefix, isId } from '../base/ids.ts'
import { UsageError } from '../base/operator-error.ts'
import { canonicalDomain } from '../mail/address.ts'

const maxCount = 10_000

export const organizationId = { placeholder: 'ID', read: idReader('org', 'an organization') }
export const brandId = { placeholder: 'ID', read: idReader('brd', 'a brand') }
export const memberId = { placeholder: 'ID', read: idReader('mem', 'a member') }
export const sessionId = { placeholder: 'ID', read: idReader('ses', 'a session') }
export const emailId = { placeholder: 'EMAIL', read: idReader('eml', 'an email') }
export const webhookId = { placeholder: 'ID', read: idReader('whk', 'a webhook') }
export const messageId = { placeholder: 'MESSAGE', read: idReader('msg', 'a message') }

/** A point in time, in ISO 8601. */
export const time = { placeholder: 'TIME', read: readTime }

/** A domain name, read in its canonical form. */
export const domainName = { placeholder: 'DOMAIN', read: readDomain }

/** A person's address, read in the form that identifies them. */
export const emailAddress = { placeholder: 'EMAIL', read: readEmailAddress }

/** How many rows a list shows. */
export const limit = {
  placeholder: 'N',
  description: 'show at most this many',
  read: readCount,
  default: '100',
} as const

export const dryRun = { description: 'change nothing, and print what would be done' } as const

/** One of some words. */
export function choice<const Value extends string>(values: readonly Value[]) {
  return {
    placeholder: values.join('|'),
    read(text: string): Value {
      const found = values.find(value => value === text)
      if (found === undefined) throw new UsageError(`"${text}" is none of ${values.join(', ')}`)
      return found
    },
  }
}

function idReader<const Prefix extends IdPrefix>(prefix: Prefix, thing: string): (text: string) => Id<Prefix> {
  return text => {
    if (!isId(prefix, text)) throw new UsageError(`"${text}" is not the id of ${thing}`)
    return text
  }
}

function readTime(text: string): Instant {
  const at = fromIso(text)
  if (!at) throw new UsageError(`"${text}" is not a time such as 2027-01-31T00:00:00Z`)
  return at
}

function readDomain(text: string): string {
  const domain = canonicalDomain(text)
  if (domain === undefined) throw new UsageError(`"${text}" is not a domain name`)
  return domain
}

function readEmailAddress(text: string): string {
  const email = canonicalEmail(text)
  if (email === undefined) throw new UsageError(`"${text}" is not an address such as name@example.com`)
  return email
}

function readCount(text: string): number {
  const count = Number(text)
  if (Number.isInteger(count) && count >= 1 && count <= maxCount) return count
  throw new UsageError(`"${text}" is not a whole number from 1 to ${maxCount}`)
}
