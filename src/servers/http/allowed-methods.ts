/** A route as Elysia lists it. */
export interface RoutePath {
  readonly method: string
  readonly path: string
}

/**
 * A function that gives the methods a path has, as the header Allow lists them; undefined where there is no such path.
 * Parts that start with `:` stand for any one part, as in Elysia.
 */
export function allowedMethods(routes: readonly RoutePath[]): (path: string) => string | undefined {
  const known = routes.map(({ method, path }) => ({ method, parts: partsOf(path) }))
  return path => {
    const parts = partsOf(path)
    const methods = known.filter(route => matches(route.parts, parts)).map(route => route.method)
    const all = new Set(methods.flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : [method])))
    return all.size === 0 ? undefined : [...all].sort().join(', ')
  }
}

function partsOf(path: string): readonly string[] {
  // A slash at the end makes no difference to Elysia.
  return path.replace(/\/$/, '').split('/').slice(1)
}

function matches(route: readonly string[], parts: readonly string[]): boolean {
  return (
    route.length === parts.length &&
    route.every((value, i) => value === parts[i] || (value.startsWith(':') && parts[i] !== ''))
  )
}
