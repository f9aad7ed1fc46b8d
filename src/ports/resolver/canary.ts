import type { Resolver } from './port.ts'

/** Do our own DNS servers answer at all? Never rejects. */
export type Canary = () => Promise<boolean>

/** Messages that meet DNS failures come in bursts: one query serves all that ask within this time. */
const cachedMs = 1000

/**
 * Looks up `name` past every cache. That the name does not exist is an answer too: only a failure means that our servers
 * cannot resolve names. `name` should be one whose own name servers are reliable, such as ours.
 */
export function createCanary(resolver: Resolver, name: string): Canary {
  let last: { readonly at: number; readonly isAnswered: Promise<boolean> } | undefined
  return () => {
    const at = performance.now()
    if (!last || at - last.at > cachedMs) last = { at, isAnswered: isAnswered() }
    return last.isAnswered
  }

  async function isAnswered(): Promise<boolean> {
    const answer = await resolver.resolve(name, 'A', { bypassCache: true })
    return answer.kind !== 'failed'
  }
}
