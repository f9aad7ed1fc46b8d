import { useState } from 'react'
import { Button } from '../../../components/actions/Button.tsx'
import { strings as shared } from '../../../components/strings.ts'
import { showControls } from '../../../components/text/SafeText.tsx'
import { mailStrings as strings } from '../strings.ts'

const firstCharacters = 50_000

/** The text of a message as it was written. Of a long one, the beginning is drawn first. */
export function PlainText({ text }: { readonly text: string | null }) {
  const [isWhole, setWhole] = useState(false)
  if (text === null || text.trim() === '') return <p className="p-4 text-muted sm:px-5">{strings.noContent}</p>
  const isCut = !isWhole && text.length > firstCharacters
  const shown = isCut ? text.slice(0, firstCharacters) : text
  return (
    <div className="p-4 sm:px-5">
      <div dir="auto" className="max-w-[46rem] text-base break-words whitespace-pre-wrap">
        {showControls(shown.replace(/\r\n/g, '\n'))}
      </div>
      {isCut && (
        <Button className="mt-3" onClick={() => setWhole(true)}>
          {shared.more}
        </Button>
      )}
    </div>
  )
}
