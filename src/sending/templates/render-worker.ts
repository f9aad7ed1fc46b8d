import { findFault, type RenderResult, renderParts, type TemplateFault, type TemplateSources } from './engine.ts'

// What runs on the thread that rendering.ts starts: one task after the other.

export type RenderTask =
  | { readonly kind: 'check'; readonly sources: TemplateSources }
  | { readonly kind: 'render'; readonly sources: TemplateSources; readonly variables: object }

export type RenderWorkerMessage =
  /** It has loaded what it needs. */
  { readonly kind: 'ready' } | { readonly kind: 'checked'; readonly fault: TemplateFault | undefined } | RenderResult

declare const self: {
  postMessage(message: RenderWorkerMessage): void
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
