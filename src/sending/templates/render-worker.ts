import { type Fault, findFault, type Rendered, renderParts, type Sources } from './engine.ts'

// What runs on the thread that rendering.ts starts: one task after the other.

export type RenderTask =
  | { readonly kind: 'check'; readonly sources: Sources }
  | { readonly kind: 'render'; readonly sources: Sources; readonly variables: object }

export type FromRenderThread =
  /** It has loaded what it needs. */
  { readonly kind: 'ready' } | { readonly kind: 'checked'; readonly fault: Fault | undefined } | Rendered

declare const self: {
  postMessage(message: FromRenderThread): void
  onmessage: ((event: { readonly data: RenderTask }) => void) | null
}

self.onmessage = ({ data }) => {
  switch (data.kind) {
    case 'check':
      return self.postMessage({ kind: 'checked', fault: findFault(data.sources) })
    case 'render':
      return self.postMessage(renderParts(data.sources, data.variables))
    default:
      data satisfies never
  }
}
self.postMessage({ kind: 'ready' })
