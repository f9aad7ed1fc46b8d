import { fromIso, type Instant } from '../base/clock.ts'
import { UsageError } from '../base/operator-error.ts'
import { canonicalDomain } from '../mail/address.ts'

type Options = Readonly<Record<string, string | undefined>>

const maxCount = 10_000

/** The time that an option gives; undefined: it is absent. @throws UsageError */
export function readTime(options: Options, name: string): Instant | undefined {
  const text = options[name]
  if (text === undefined) return undefined
  const at = fromIso(text)
  if (!at) throw new UsageError(`--${name}: "${text}" is not a time such as 2027-01-31T00:00:00Z`)
  return at
}

/** The number that an option gives, from 1 to 10,000. @throws UsageError */
export function readCount(options: Options, name: string, usual: number): number {
  const text = options[name]
  if (text === undefined) return usual
  const count = Number(text)
  if (Number.isInteger(count) && count >= 1 && count <= maxCount) return count
  throw new UsageError(`--${name}: "${text}" is not a whole number from 1 to ${maxCount}`)
}

/** @throws UsageError */
export function readDomain(text: string): string {
  const domain = canonicalDomain(text)
  if (domain === undefined) throw new UsageError(`"${text}" is not a domain name`)
  return domain
}

/** One of `known`. @throws UsageError */
export function readOneOf<Value extends string>(known: readonly Value[], text: string, name: string): Value {
  const found = known.find(value => value === text)
  if (found === undefined) throw new UsageError(`--${name}: "${text}" is none of ${known.join(', ')}`)
  return found
}
