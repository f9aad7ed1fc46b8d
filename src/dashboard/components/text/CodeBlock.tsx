import { CopyButton } from '../actions/CopyButton.tsx'
import { strings } from '../strings.ts'

interface CodeBlockProps {
  /** What it is, for screen readers and the copy button: "Send with curl". */
  readonly label: string
  readonly code: string
}

/** Several lines to read or to copy: a command, a snippet, a header. Long lines scroll. */
export function CodeBlock({ label, code }: CodeBlockProps) {
  return (
    <figure className="relative min-w-0 rounded-lg border border-line bg-sunken" aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the keyboard */}
      <pre className="max-h-96 overflow-auto p-3 pr-12 font-mono text-sm" tabIndex={0}>
        <code>{code}</code>
      </pre>
      <div className="absolute top-1.5 right-1.5 rounded-md bg-sunken">
        <CopyButton text={code} label={`${strings.copy}: ${label}`} />
      </div>
    </figure>
  )
}
