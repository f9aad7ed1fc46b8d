import { Paperclip, X } from 'lucide-react'
import { useRef, useState } from 'react'
import { Button } from '../../../../components/actions/Button.tsx'
import { IconButton } from '../../../../components/actions/IconButton.tsx'
import { Bytes } from '../../../../components/text/Amount.tsx'
import { SafeText } from '../../../../components/text/SafeText.tsx'
import { mailStrings as strings } from '../../strings.ts'
import { fileProblem } from './files.ts'

interface AttachmentFieldProps {
  readonly files: readonly File[]
  readonly onFiles: (files: readonly File[]) => void
  /** Says that the saved draft has no attachments. */
  readonly isDraft?: boolean
}

/** Files to send along. */
export function AttachmentField({ files, onFiles, isDraft = false }: AttachmentFieldProps) {
  const input = useRef<HTMLInputElement>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const add = (chosen: readonly File[]) => {
    const all = [...files, ...chosen]
    const found = fileProblem(all)
    setProblem(found === null ? null : found === 'count' ? strings.tooManyFiles : strings.tooLarge)
    if (found === null) onFiles(all)
  }
  return (
    <div className="min-w-0">
      <input
        ref={input}
        type="file"
        multiple
        tabIndex={-1}
        aria-label={strings.attach}
        className="sr-only"
        onChange={event => {
          add([...(event.currentTarget.files ?? [])])
          event.currentTarget.value = ''
        }}
      />
      <Button kind="quiet" icon={<Paperclip />} onClick={() => input.current?.click()}>
        {strings.attach}
      </Button>
      {files.length > 0 && (
        <ul className="mt-1 flex flex-wrap gap-1.5">
          {files.map((file, position) => (
            <li
              // biome-ignore lint/suspicious/noArrayIndexKey: the same file may be attached twice
              key={position}
              className="inline-flex h-8 max-w-full items-center gap-1.5 rounded-md border border-line-strong bg-surface pl-2 text-sm"
            >
              <SafeText text={file.name} className="min-w-0 truncate" />
              <span className="text-xs text-faint">
                <Bytes value={file.size} />
              </span>
              <IconButton
                size="small"
                label={strings.removeFile(file.name)}
                icon={<X />}
                onClick={() => onFiles(files.filter((_, index) => index !== position))}
              />
            </li>
          ))}
        </ul>
      )}
      {files.length > 0 && isDraft && <p className="mt-1 text-sm text-muted">{strings.filesNotSaved}</p>}
      {problem && (
        <p role="alert" className="mt-1 text-sm text-bad">
          {problem}
        </p>
      )}
    </div>
  )
}
