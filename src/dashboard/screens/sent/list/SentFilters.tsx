import { useState } from 'react'
import { Button } from '../../../components/actions/Button.tsx'
import { Select } from '../../../components/fields/Select.tsx'
import { TextInput } from '../../../components/fields/TextInput.tsx'
import { emailStatuses } from '../email-status.ts'
import type { SentFilter } from '../sent-filter.ts'
import { sentStrings as strings } from '../strings.ts'

interface SentFiltersProps {
  readonly filter: SentFilter
  readonly onFilter: (filter: SentFilter) => void
}

const statusOptions = [
  { value: '', label: strings.anyStatus },
  ...emailStatuses.map(status => ({ value: status, label: status })),
] as const

/** The status acts at once; tag and recipient when they are entered. */
export function SentFilters({ filter, onFilter }: SentFiltersProps) {
  const [tag, setTag] = useState(filter.tag ?? '')
  const [recipient, setRecipient] = useState(filter.recipient ?? '')
  const isFiltered = filter.status !== null || filter.tag !== null || filter.recipient !== null
  return (
    <form
      aria-label={strings.filters}
      className="mb-4 flex flex-wrap items-end gap-2"
      onSubmit={event => {
        event.preventDefault()
        onFilter({ ...filter, tag: tag.trim() || null, recipient: recipient.trim() || null })
      }}
    >
      <div className="w-36">
        <Select
          label={strings.status}
          value={filter.status ?? ''}
          options={statusOptions}
          onValue={status => onFilter({ ...filter, status: status === '' ? null : status })}
        />
      </div>
      <div className="w-40 grow sm:grow-0">
        <TextInput label={strings.tag} isCode value={tag} onValue={setTag} placeholder={strings.tagPlaceholder} />
      </div>
      <div className="w-56 grow sm:grow-0">
        <TextInput
          label={strings.recipient}
          isCode
          autoComplete="off"
          value={recipient}
          onValue={setRecipient}
          placeholder={strings.recipientPlaceholder}
        />
      </div>
      <Button type="submit">{strings.apply}</Button>
      {isFiltered && (
        <Button
          kind="quiet"
          onClick={() => {
            setTag('')
            setRecipient('')
            onFilter({ status: null, tag: null, recipient: null })
          }}
        >
          {strings.clear}
        </Button>
      )}
    </form>
  )
}
