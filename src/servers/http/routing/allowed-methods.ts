/** A route as Elysia lists it. */
export interface RoutePath {
  readonly method: string
  readonly path: string
}

/**
 * A function that gives the methods of a path as the header Allow lists them; undefined where no route has the path. A
 * segment that starts with `:` matches any one segment, as in Elysia.
 */
export function allowedMethods(routes: readonly RoutePath[]): (path: string) => string | undefined {
  const templates = routes.map(({ method, path }) => ({ method, segments: segmentsOf(path) }))
  return path => {
    const segments = segmentsOf(path)
    const methods = templates.filter(template => matches(template.segments, segments)).map(({ method }) => method)
    const withHead = new Set(methods.flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : [method])))
    return withHead.size === 0 ? undefined : [...withHead].sort().join(', ')
  }
}

function segmentsOf(path: string): readonly string[] {
  return path.split('/').slice(1)
}

function matches(template: readonly string[], segments: readonly string[]): boolean {
  return (
    template.length === segments.length &&
    template.every((segment, i) => segment === segments[i] || (segment.startsWith(':') && segments[i] !== ''))
  )
}
