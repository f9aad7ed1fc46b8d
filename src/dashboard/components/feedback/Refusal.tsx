import type { ReactNode } from 'react'
import { ApiError } from '../../api/errors.ts'
import { strings } from '../strings.ts'
import { Notice } from './Notice.tsx'

interface RefusalProps {
  /** What was thrown: an ApiError, or a mistake of ours. */
  readonly error: unknown
  /** Leads to where it is mended, or tries again. */
  readonly action?: ReactNode
}

/** A refusal in the server's own words: its message, the requirement that is not met, and a way to mend it. */
export function Refusal({ error, action }: RefusalProps) {
  const { message, requirement, resolution } = wordsOf(error)
  return (
    <div role="alert">
      <Notice tone="bad" title={message} action={action}>
        {requirement && (
          <p>
            {strings.requirement}: {requirement}
          </p>
        )}
        {resolution && <p>{resolution}</p>}
      </Notice>
    </div>
  )
}

function wordsOf(error: unknown): {
  message: string
  requirement?: string | undefined
  resolution?: string | undefined
} {
  if (error instanceof ApiError) return error
  return { message: error instanceof Error ? error.message : String(error) }
}
