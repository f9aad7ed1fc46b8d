import type { RoutePath } from './allowed-methods.ts'

interface PathNode {
  readonly named: Map<string, PathNode>
  /** What follows a part that stands for any. */
  any?: PathNode
  template?: string
}

const newPart = (): PathNode => ({ named: new Map() })

/**
 * A function that gives the route that a path belongs to, as it is written (`/v1/emails/:id`); undefined: to none. Its
 * answers are bounded, whatever is asked for.
 */
export function routeTemplates(routes: readonly RoutePath[]): (path: string) => string | undefined {
  const root = newPart()
  for (const { path } of routes) {
    let at = root
    for (const part of partsOf(path)) at = part.startsWith(':') ? anyAfter(at) : namedAfter(at, part)
    at.template = path
  }
  return path => {
    let at: PathNode | undefined = root
    for (const part of partsOf(path)) {
      at = at.named.get(part) ?? (part === '' ? undefined : at.any)
      if (at === undefined) return undefined
    }
    return at.template
  }
}

function anyAfter(part: PathNode): PathNode {
  part.any ??= newPart()
  return part.any
}

function namedAfter(part: PathNode, name: string): PathNode {
  const next = part.named.get(name) ?? newPart()
  part.named.set(name, next)
  return next
}

function partsOf(path: string): readonly string[] {
  return (path.endsWith('/') ? path.slice(0, -1) : path).split('/').slice(1)
}
