import { Check, CloudOff, LoaderCircle, PencilLine } from 'lucide-react'
import { mailStrings as strings } from '../strings.ts'
import type { SaveState } from './draft-saver.ts'

interface SaveStatusProps {
  readonly state: SaveState
  /** The person has no drafts on the server. */
  readonly isLocal: boolean
}

/** Whether what is typed is on the server. */
export function SaveStatus({ state, isLocal }: SaveStatusProps) {
  return (
    <p role="status" className="flex min-w-0 items-center gap-1.5 text-sm text-muted [&_svg]:size-4 [&_svg]:shrink-0">
      {isLocal ? strings.localOnly : <Words state={state} />}
    </p>
  )
}

function Words({ state }: { readonly state: SaveState }) {
  switch (state.kind) {
    case 'saved':
      return state.draft ? (
        <>
          <Check className="text-good" aria-hidden="true" />
          {strings.saved}
        </>
      ) : null
    case 'saving':
      return (
        <>
          <LoaderCircle className="animate-spin" aria-hidden="true" />
          {strings.saving}
        </>
      )
    case 'unsaved':
    case 'conflict':
    case 'refused':
      return (
        <>
          <PencilLine aria-hidden="true" />
          {strings.unsaved}
        </>
      )
    case 'away':
      return (
        <>
          <CloudOff className="text-warn" aria-hidden="true" />
          {strings.away}
        </>
      )
    default:
      return state satisfies never
  }
}
