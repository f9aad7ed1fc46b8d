import type { Resolver } from '../../ports/resolver/port.ts'

/** Terms that cost a DNS look-up (RFC 7208 §4.6.4). */
const lookupTerm = /^[-+~?]?(include|a|mx|ptr|exists)(?:[:/].*)?$/i
const targetTerm = /^(?:[-+~?]?include:|redirect=)(.+)$/i
/** RFC 7208 §4.6.4: with more, every receiver evaluates the record as permerror. */
const maxLookups = 10

/** RFC 7208 §4.5: the version and then a space or the end. */
export function isSpf(text: string): boolean {
  return /^v=spf1(?: |$)/i.test(text)
}

/** What is wrong with the SPF records at one name, as far as it shows without further look-ups; undefined: nothing. Pure. */
export function spfProblem(records: readonly string[]): string | undefined {
  const [first = ''] = records
  if (records.length > 1)
    return `There are ${records.length} SPF records at this name, so receivers ignore them all (RFC 7208 §4.5). Merge them into one.`
  if (termsOf(first).some(term => /^\+?all$/i.test(term)))
    return 'It allows everyone to send (+all), which makes it useless. End it with ~all or -all.'
  return undefined
}

/** What is wrong with an SPF record including what it includes. Look-ups that fail are not counted against it. */
export async function spfLookupProblem(resolver: Resolver, record: string): Promise<string | undefined> {
  const count = await countLookups(resolver, record, 0)
  if (count <= maxLookups) return undefined
  return `It needs more than ${maxLookups} DNS look-ups, includes counted, which receivers treat as a permanent error (RFC 7208 §4.6.4).`
}

/** Stops past the limit, so it ends even if records include each other. */
async function countLookups(resolver: Resolver, record: string, before: number): Promise<number> {
  let count = before
  for (const term of termsOf(record)) {
    const isRedirect = /^redirect=/i.test(term)
    if (!isRedirect && !lookupTerm.test(term)) continue
    count++
    if (count > maxLookups) return count
    const target = targetTerm.exec(term)?.[1]
    // A macro (§7) expands differently for each message.
    if (target === undefined || target.includes('%')) continue
    const answer = await resolver.resolve(target.toLowerCase().replace(/\.$/, ''), 'TXT')
    const included = answer.kind === 'found' ? answer.records.find(isSpf) : undefined
    if (included !== undefined) count = await countLookups(resolver, included, count)
    if (count > maxLookups) return count
  }
  return count
}

/** The names that a record includes with a pass, lower case, without a final dot. */
export function includesOf(record: string): readonly string[] {
  return termsOf(record)
    .map(term => /^\+?include:(.+)$/i.exec(term)?.[1]?.toLowerCase().replace(/\.$/, ''))
    .filter(name => name !== undefined)
}

function termsOf(record: string): readonly string[] {
  return record.split(/ +/).slice(1)
}
