import { Send } from 'lucide-react'
import { useState } from 'react'
import { EmptyState } from '../../../components/feedback/EmptyState.tsx'
import { Segmented } from '../../../components/fields/Segmented.tsx'
import { CodeBlock } from '../../../components/text/CodeBlock.tsx'
import { curlSnippet } from '../curl-snippet.ts'
import { useSenderAddress } from '../sender-address.ts'
import { sentStrings as strings } from '../strings.ts'
import { typescriptSnippet } from '../typescript-snippet.ts'

const languages = [
  { value: 'curl', label: 'curl' },
  { value: 'typescript', label: 'TypeScript' },
] as const
type Language = (typeof languages)[number]['value']

/** Nothing was sent yet: how a program does it, from the member's own domain. */
export function SentEmpty() {
  const { from, isKnown } = useSenderAddress()
  const [language, setLanguage] = useState<Language>('curl')
  const sender = from ?? 'hello@your-domain.example'
  return (
    <EmptyState
      icon={<Send />}
      title={strings.empty}
      action={
        <div className="flex w-full min-w-0 flex-col gap-3">
          <div className="flex justify-center">
            <Segmented label={strings.language} value={language} onValue={setLanguage} options={languages} />
          </div>
          {language === 'curl' ? (
            <CodeBlock label={strings.curl} code={curlSnippet(location.origin, sender)} />
          ) : (
            <CodeBlock label={strings.typescript} code={typescriptSnippet(location.origin, sender)} />
          )}
        </div>
      }
    >
      {isKnown && from === null ? strings.emptyNotReady : strings.emptyHint}
    </EmptyState>
  )
}
