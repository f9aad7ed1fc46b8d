import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useId, useState } from 'react'
import { answer } from '../../api/client.ts'
import { ConflictNotice } from '../../components/conflict/ConflictNotice.tsx'
import { FormDialog } from '../../components/overlays/FormDialog.tsx'
import { showToast } from '../../components/overlays/toasts.ts'
import { useAction } from '../../hooks/action.ts'
import { useConditionalSave } from '../../hooks/conditional-save.ts'
import { useOrganization } from '../../hooks/organization.ts'
import { newRecordFields, RecordForm, recordBodyOf, recordFieldsOf } from './RecordForm.tsx'
import { managedRecordStrings as strings } from './strings.ts'
import type { ManagedRecord } from './types.ts'

interface AddRecordDialogProps {
  readonly domainId: string
  readonly onClose: () => void
}

/** Adds a record to the zone. */
export function AddRecordDialog({ domainId, onClose }: AddRecordDialogProps) {
  const { api } = useOrganization()
  const queryClient = useQueryClient()
  const [fields, setFields] = useState(newRecordFields)
  const { isBusy, error, run } = useAction()
  const id = useId()
  const add = () =>
    run(async () => {
      const body = { ...recordBodyOf(fields), type: fields.type }
      await answer(api.v1.POST('/v1/domains/{id}/dns/records', { params: { path: { id: domainId } }, body }))
      await queryClient.invalidateQueries({ queryKey: ['domains'] })
      showToast(strings.added)
      onClose()
    })
  return (
    <RecordDialog title={strings.add} formId={id} isBusy={isBusy} onClose={onClose}>
      <RecordForm id={id} isNew fields={fields} onFields={setFields} onSubmit={() => void add()} error={error} />
    </RecordDialog>
  )
}

interface EditRecordDialogProps extends AddRecordDialogProps {
  readonly record: ManagedRecord
}

/** Changes a record of the zone. */
export function EditRecordDialog({ domainId, record, onClose }: EditRecordDialogProps) {
  const { api } = useOrganization()
  const queryClient = useQueryClient()
  const [fields, setFields] = useState(() => recordFieldsOf(record))
  const id = useId()
  const params = { path: { id: domainId, record_id: record.id } }
  const { isBusy, error, isConflict, save, keepMine, takeTheirs } = useConditionalSave<ManagedRecord>({
    stored: record,
    read: () => answer(api.v1.GET('/v1/domains/{id}/dns/records/{record_id}', { params })),
    async save(if_updated_at) {
      const body = { ...recordBodyOf(fields), if_updated_at }
      const saved = await answer(api.v1.PATCH('/v1/domains/{id}/dns/records/{record_id}', { params, body }))
      await queryClient.invalidateQueries({ queryKey: ['domains'] })
      showToast(strings.saved)
      onClose()
      return saved
    },
    show: theirs => setFields(recordFieldsOf(theirs)),
  })
  return (
    <RecordDialog title={strings.change} formId={id} isBusy={isBusy} onClose={onClose}>
      <RecordForm
        id={id}
        fields={fields}
        onFields={setFields}
        onSubmit={() => void save()}
        error={error}
        notice={isConflict && <ConflictNotice onKeep={keepMine} onTake={takeTheirs} />}
      />
    </RecordDialog>
  )
}

interface RecordDialogProps {
  readonly title: string
  readonly formId: string
  readonly isBusy: boolean
  readonly onClose: () => void
  readonly children: ReactNode
}

function RecordDialog({ title, formId, isBusy, onClose, children }: RecordDialogProps) {
  return (
    <FormDialog onClose={onClose} title={title} submit={strings.save} form={formId} isBusy={isBusy}>
      {children}
    </FormDialog>
  )
}
