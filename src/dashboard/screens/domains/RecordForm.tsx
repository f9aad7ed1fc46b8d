import type { ReactNode } from 'react'
import { ApiError, errorOf } from '../../api/errors.ts'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { Select } from '../../components/fields/Select.tsx'
import { TextArea } from '../../components/fields/TextArea.tsx'
import { TextInput } from '../../components/fields/TextInput.tsx'
import { managedRecordStrings as strings } from './strings.ts'
import type { ManagedRecord } from './types.ts'

const types = ['A', 'AAAA', 'CNAME', 'MX', 'TXT'] as const
const names: readonly (string | undefined)[] = ['name', 'value', 'ttl', 'priority']

/** A record as it is typed. */
export interface RecordFields {
  readonly type: ManagedRecord['type']
  readonly name: string
  readonly value: string
  readonly ttl: string
  readonly priority: string
}

export const newRecordFields: RecordFields = { type: 'A', name: '', value: '', ttl: '300', priority: '10' }

export function recordFieldsOf({ type, name, value, ttl, priority }: ManagedRecord): RecordFields {
  return { type, name, value, ttl: String(ttl), priority: String(priority ?? newRecordFields.priority) }
}

/** What is typed, as the API takes it; the type cannot be changed. */
export function recordBodyOf({ type, name, value, ttl, priority }: RecordFields) {
  return { name, value, ttl: Number(ttl), ...(type === 'MX' && { priority: Number(priority) }) }
}

interface RecordFormProps {
  readonly id: string
  readonly fields: RecordFields
  readonly onFields: (fields: RecordFields) => void
  readonly onSubmit: () => void
  readonly error: unknown
  readonly isNew?: boolean
  /** Above the fields. */
  readonly notice?: ReactNode
}

/** The fields of a record in the zone. */
export function RecordForm({ id, fields, onFields, onSubmit, error, isNew = false, notice }: RecordFormProps) {
  const { type, name, value, ttl, priority } = fields
  const change = (changed: Partial<RecordFields>) => onFields({ ...fields, ...changed })
  return (
    <form
      id={id}
      className="flex flex-col gap-4"
      onSubmit={event => {
        event.preventDefault()
        onSubmit()
      }}
    >
      {notice}
      {isNew && (
        <Select
          label={strings.type}
          value={type}
          onValue={chosen => change({ type: chosen })}
          options={types.map(option => ({ value: option, label: option }))}
        />
      )}
      <TextInput
        label={strings.name}
        hint={strings.nameHint}
        error={errorOf(error, 'name')}
        isCode
        required
        value={name}
        onValue={typed => change({ name: typed })}
      />
      {type === 'TXT' ? (
        <TextArea
          label={strings.value}
          error={errorOf(error, 'value')}
          required
          value={value}
          onValue={typed => change({ value: typed })}
        />
      ) : (
        <TextInput
          label={strings.value}
          error={errorOf(error, 'value')}
          isCode
          required
          value={value}
          onValue={typed => change({ value: typed })}
        />
      )}
      {type === 'MX' && (
        <TextInput
          label={strings.priority}
          error={errorOf(error, 'priority')}
          type="number"
          min={0}
          max={65_535}
          required
          value={priority}
          onValue={typed => change({ priority: typed })}
        />
      )}
      <TextInput
        label={strings.ttl}
        error={errorOf(error, 'ttl')}
        type="number"
        min={60}
        max={86_400}
        required
        value={ttl}
        onValue={typed => change({ ttl: typed })}
      />
      {error !== null && !(error instanceof ApiError && names.includes(error.param)) && <Refusal error={error} />}
    </form>
  )
}
