import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../../components/actions/Button.tsx'
import { IconButton } from '../../../components/actions/IconButton.tsx'
import { formStrings as strings } from './strings.ts'
import type { DeliveryHeader } from './webhook-fields.ts'

const mostHeaders = 5

interface HeaderFieldsProps {
  /** null: the stored ones stay. */
  readonly value: readonly DeliveryHeader[] | null
  readonly onValue: (value: readonly DeliveryHeader[]) => void
  readonly error: string | null
  /** The endpoint is there already: what is entered replaces what it has. */
  readonly isChange: boolean
}

/** Headers of an endpoint: written, and never shown again. */
export function HeaderFields({ value, onValue, error, isChange }: HeaderFieldsProps) {
  const [lastKey, setLastKey] = useState(0)
  const rows = value ?? []
  const add = () => {
    setLastKey(lastKey + 1)
    onValue([...rows, { key: lastKey + 1, name: '', value: '' }])
  }
  const change = (key: number, changed: Partial<DeliveryHeader>) =>
    onValue(rows.map(row => (row.key === key ? { ...row, ...changed } : row)))
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="mb-1 text-sm font-medium">{strings.headers}</legend>
      <p className="text-sm text-muted">{isChange ? strings.headersChange : strings.headersHint}</p>
      {rows.map((row, position) => (
        <div key={row.key} className="flex gap-2">
          <input
            aria-label={strings.headerName(position + 1)}
            placeholder="X-Api-Key"
            className="input w-2/5 font-mono"
            spellCheck={false}
            autoComplete="off"
            value={row.name}
            onChange={event => change(row.key, { name: event.currentTarget.value })}
          />
          <input
            aria-label={strings.headerValue(position + 1)}
            className="input min-w-0 flex-1 font-mono"
            spellCheck={false}
            autoComplete="off"
            value={row.value}
            onChange={event => change(row.key, { value: event.currentTarget.value })}
          />
          <IconButton
            label={strings.removeHeader(position + 1)}
            icon={<Trash2 />}
            onClick={() => onValue(rows.filter(({ key }) => key !== row.key))}
          />
        </div>
      ))}
      {error && <p className="text-sm text-bad">{error}</p>}
      {rows.length < mostHeaders && (
        <div>
          <Button size="small" icon={<Plus />} onClick={add}>
            {strings.addHeader}
          </Button>
        </div>
      )}
    </fieldset>
  )
}
