import type { Resolver } from '../../ports/resolver/port.ts'

/** Terms that take a DNS look-up of whoever evaluates the record, RFC 7208 §4.6.4. */
const lookUpForm = /^[-+~?]?(include|a|mx|ptr|exists)(?:[:/].*)?$/i
const targetForm = /^(?:[-+~?]?include:|redirect=)(.+)$/i
/** RFC 7208 §4.6.4: more make the whole record an error for every receiver. */
const maxLookUps = 10

/** RFC 7208 §4.5: the version and then a space or the end. */
export function isSpf(text: string): boolean {
  return /^v=spf1(?: |$)/i.test(text)
}

/** What is wrong with the SPF records at one name, whatever they permit; undefined: nothing that they show by themselves. Pure. */
export function spfProblem(records: readonly string[]): string | undefined {
  const [first = ''] = records
  if (records.length > 1)
    return `There are ${records.length} SPF records at this name; receivers heed none then (RFC 7208 §4.5). Make one of them.`
  if (termsOf(first).some(term => /^\+?all$/i.test(term)))
    return 'It permits everyone to send (+all), so that it says nothing. End it with ~all or -all.'
  return undefined
}

/** What is wrong with an SPF record once what it includes is looked up. What DNS does not answer is not held against it. */
export async function spfLookupProblem(resolver: Resolver, record: string): Promise<string | undefined> {
  const count = await countLookUps(resolver, record, 0)
  if (count <= maxLookUps) return undefined
  return `It takes more than ${maxLookUps} DNS look-ups with all that it includes; receivers take that for an error (RFC 7208 §4.6.4).`
}

/** Stops once it is past the limit, and so ends where records include each other. */
async function countLookUps(resolver: Resolver, record: string, before: number): Promise<number> {
  let count = before
  for (const term of termsOf(record)) {
    const isRedirect = /^redirect=/i.test(term)
    if (!isRedirect && !lookUpForm.test(term)) continue
    count++
    if (count > maxLookUps) return count
    const target = targetForm.exec(term)?.[1]
    // A macro (§7) stands for something else with every message.
    if (target === undefined || target.includes('%')) continue
    const answer = await resolver.resolve(target.toLowerCase().replace(/\.$/, ''), 'TXT')
    const included = answer.kind === 'found' ? answer.records.find(isSpf) : undefined
    if (included !== undefined) count = await countLookUps(resolver, included, count)
    if (count > maxLookUps) return count
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
