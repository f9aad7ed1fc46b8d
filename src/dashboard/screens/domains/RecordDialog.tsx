import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { answer } from '../../api/client.ts'
import { ApiError, errorOf } from '../../api/errors.ts'
import { Button } from '../../components/actions/Button.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { Select } from '../../components/fields/Select.tsx'
import { TextArea } from '../../components/fields/TextArea.tsx'
import { TextInput } from '../../components/fields/TextInput.tsx'
import { Dialog } from '../../components/overlays/Dialog.tsx'
import { showToast } from '../../components/overlays/toasts.ts'
import { useOrganization } from '../../hooks/organization.ts'
import { managedRecordStrings as strings } from './strings.ts'
import type { ManagedRecord } from './types.ts'

const types = ['A', 'AAAA', 'CNAME', 'MX', 'TXT'] as const
const defaultTtl = 300
const fields: readonly (string | undefined)[] = ['name', 'value', 'ttl', 'priority']

interface RecordDialogProps {
  readonly domainId: string
  /** null: a new one. */
  readonly record: ManagedRecord | null
  readonly onClose: () => void
}

/** Adds a record to the zone, or changes one. */
export function RecordDialog({ domainId, record, onClose }: RecordDialogProps) {
  const { api } = useOrganization()
  const queryClient = useQueryClient()
  const formId = useId()
  const [type, setType] = useState(record?.type ?? 'A')
  const [name, setName] = useState(record?.name ?? '')
  const [value, setValue] = useState(record?.value ?? '')
  const [ttl, setTtl] = useState(String(record?.ttl ?? defaultTtl))
  const [priority, setPriority] = useState(String(record?.priority ?? '10'))
  const save = useMutation({
    mutationFn: () => {
      const body = { name, value, ttl: Number(ttl), ...(type === 'MX' && { priority: Number(priority) }) }
      const path = { id: domainId }
      return record
        ? answer(
            api.v1.PATCH('/v1/domains/{id}/dns/records/{record_id}', {
              params: { path: { ...path, record_id: record.id } },
              body,
            }),
          )
        : answer(api.v1.POST('/v1/domains/{id}/dns/records', { params: { path }, body: { ...body, type } }))
    },
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['domains'] })
      showToast(record ? strings.saved : strings.added)
      onClose()
    },
  })
  const { error } = save
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={record ? strings.change : strings.add}
      footer={
        <Button type="submit" form={formId} kind="primary" isBusy={save.isPending}>
          {strings.save}
        </Button>
      }
    >
      <form
        id={formId}
        className="flex flex-col gap-4"
        onSubmit={event => {
          event.preventDefault()
          save.mutate()
        }}
      >
        {!record && (
          <Select
            label={strings.type}
            value={type}
            onValue={setType}
            options={types.map(value => ({ value, label: value }))}
          />
        )}
        <TextInput
          label={strings.name}
          hint={strings.nameHint}
          error={errorOf(error, 'name')}
          isCode
          required
          value={name}
          onValue={setName}
        />
        {type === 'TXT' ? (
          <TextArea label={strings.value} error={errorOf(error, 'value')} required value={value} onValue={setValue} />
        ) : (
          <TextInput
            label={strings.value}
            error={errorOf(error, 'value')}
            isCode
            required
            value={value}
            onValue={setValue}
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
            onValue={setPriority}
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
          onValue={setTtl}
        />
        {error && !(error instanceof ApiError && fields.includes(error.param)) && <Refusal error={error} />}
      </form>
    </Dialog>
  )
}
