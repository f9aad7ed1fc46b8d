import { CodeBlock } from '../../components/text/CodeBlock.tsx'
import { showControls } from '../../components/text/SafeText.tsx'
import { webhookStrings as strings } from './strings.ts'

/** The beginning of what a receiver answered, as text. */
export function ResponseText({ text }: { readonly text: string | null }) {
  return (
    <div className="min-w-0">
      <h3 className="mb-1 text-sm font-medium">{strings.response}</h3>
      {text ? (
        <CodeBlock label={strings.response} code={showControls(text)} />
      ) : (
        <p className="text-sm text-muted">{strings.noResponse}</p>
      )}
    </div>
  )
}
