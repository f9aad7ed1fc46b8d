import { type TextWorkName, textWork } from './text-work.ts'

// What runs on the thread that text-worker.ts starts: one task after the other.

export interface TextTask {
  readonly name: TextWorkName
  readonly given: readonly string[]
}

declare const self: {
  postMessage(result: string | null): void
  onmessage: ((event: { readonly data: TextTask }) => void) | null
}

self.onmessage = ({ data: { name, given } }) => {
  const work = textWork[name] as (...given: readonly string[]) => string | null
  self.postMessage(work(...given))
}
