import type { Resolver } from './port.ts'

/** Do the DNS servers that we ask answer at all? Never rejects. */
export type Canary = () => Promise<boolean>

/** Mail that meets DNS trouble comes in crowds; one question speaks for all that ask meanwhile. */
const keptMs = 1000

/**
 * Asks for `name`, past every cache. Its absence is an answer as well: only a failure says that names cannot be looked
 * up. It should be a name whose own servers are not in doubt, such as ours.
 */
export function createCanary(resolver: Resolver, name: string): Canary {
  let last: { readonly at: number; readonly isAnswered: Promise<boolean> } | undefined
  return () => {
    const at = performance.now()
    if (!last || at - last.at > keptMs) last = { at, isAnswered: isAnswered() }
    return last.isAnswered
  }

  async function isAnswered(): Promise<boolean> {
    const answer = await resolver.resolve(name, 'A', { bypassCache: true })
    return answer.kind !== 'failed'
  }
}
