import type { Refusal } from '../../base/refusal.ts'

/** Shows a refusal to a person instead of a program. */
export type RefusalPage = (refusal: Refusal) => Response

const refusalPages = new WeakMap<Request, RefusalPage>()

/** A refusal of this request becomes this page, where the request came from a browser. */
export function showRefusalsAs(page: RefusalPage, request: Request): void {
  if (comesFromBrowser(request)) refusalPages.set(request, page)
}

/** The page for a refusal of this request; undefined: the client gets JSON. */
export function refusalPageOf(request: Request): RefusalPage | undefined {
  return refusalPages.get(request)
}

/** Does the client ask for HTML (RFC 9110 §12.5.1) at least as much as for JSON? Programs, which accept anything, do not. */
export function comesFromBrowser({ headers }: Request): boolean {
  const accept = headers.get('accept') ?? ''
  const html = qualityOf('text/html', accept)
  return html > 0 && html >= qualityOf('application/json', accept)
}

/** The quality of a media type that the header names; 0: it does not name it. */
function qualityOf(type: string, accept: string): number {
  for (const entry of accept.toLowerCase().split(',')) {
    const [name = '', ...parameters] = entry.split(';').map(part => part.trim())
    if (name !== type) continue
    const quality = Number(parameters.find(parameter => parameter.startsWith('q='))?.slice(2) ?? 1)
    return quality >= 0 && quality <= 1 ? quality : 0
  }
  return 0
}
