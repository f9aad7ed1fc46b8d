import type { RoutePath } from './allowed-methods.ts'

/** A node of the tree of routes, reached by the segments of a path. */
interface PathNode {
  readonly literal: Map<string, PathNode>
  /** After a segment that is a parameter. */
  parameter?: PathNode
  template?: string
}

const newNode = (): PathNode => ({ literal: new Map() })

/**
 * A function that gives the template of a path's route (`/v1/emails/:id`); undefined: no route has the path. It has as many
 * results as there are routes, whatever the paths.
 */
export function routeTemplates(routes: readonly RoutePath[]): (path: string) => string | undefined {
  const root = newNode()
  for (const { path } of routes) {
    let node = root
    for (const segment of segmentsOf(path))
      node = segment.startsWith(':') ? parameterAfter(node) : literalAfter(node, segment)
    node.template = path
  }
  return path => {
    let node: PathNode | undefined = root
    for (const segment of segmentsOf(path)) {
      node = node.literal.get(segment) ?? (segment === '' ? undefined : node.parameter)
      if (node === undefined) return undefined
    }
    return node.template
  }
}

function parameterAfter(node: PathNode): PathNode {
  node.parameter ??= newNode()
  return node.parameter
}

function literalAfter(node: PathNode, segment: string): PathNode {
  const next = node.literal.get(segment) ?? newNode()
  node.literal.set(segment, next)
  return next
}

function segmentsOf(path: string): readonly string[] {
  return path.split('/').slice(1)
}
