import { Check, Copy } from 'lucide-react'
import { strings } from '../strings.ts'
import { Button } from './Button.tsx'
import { IconButton } from './IconButton.tsx'
import { useCopy } from './useCopy.ts'

interface CopyButtonProps {
  /** What is copied. */
  readonly text: string
  /** What it is, in words: "Copy the API key". */
  readonly label?: string
  /** With its words beside the icon. */
  readonly isWide?: boolean
}

/** Copies a text, and says that it did. */
export function CopyButton({ text, label = strings.copy, isWide = false }: CopyButtonProps) {
  const { isCopied, copy } = useCopy()
  const icon = isCopied ? <Check className="text-good" /> : <Copy />
  return (
    <>
      {isWide ? (
        <Button size="small" icon={icon} onClick={() => copy(text)}>
          {isCopied ? strings.copied : label}
        </Button>
      ) : (
        <IconButton size="small" label={label} icon={icon} onClick={() => copy(text)} />
      )}
      <span role="status" className="sr-only">
        {isCopied ? strings.copied : ''}
      </span>
    </>
  )
}
