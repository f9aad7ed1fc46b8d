import { useId, useState } from 'react'
import type { BrandOfSession } from '../../api/session.ts'
import type { components } from '../../api/v1.ts'
import { AccessFields, type MemberAccess } from '../../components/access/AccessFields.tsx'
import { ConflictNotice } from '../../components/conflict/ConflictNotice.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { FormDialog } from '../../components/overlays/FormDialog.tsx'
import { useConditionalSave } from '../../hooks/conditional-save.ts'
import { peopleStrings as strings } from './strings.ts'

/** What a member may do, or whoever accepts an invitation. */
export type StoredAccess = Pick<components['schemas']['Member'], 'brand_ids' | 'permissions' | 'updated_at'>

/** The body of its change. */
interface AccessChange {
  brand_ids: string[]
  permissions: StoredAccess['permissions']
  if_updated_at: string
}

interface AccessDialogProps {
  readonly title: string
  readonly brands: readonly BrandOfSession[]
  readonly stored: StoredAccess
  readonly onClose: () => void
  /** Reads it as it is now. */
  readonly onRead: () => Promise<StoredAccess>
  /** Saves it. The dialog stays open, with the refusal, when it fails. */
  readonly onSave: (change: AccessChange) => Promise<StoredAccess>
}

const fieldsOf = ({ brand_ids: brandIds, permissions }: StoredAccess) => ({ brandIds: brandIds ?? [], permissions })

/** Changes what a member, or whoever accepts an invitation, may do. */
export function AccessDialog({ title, brands, stored, onClose, onRead, onSave }: AccessDialogProps) {
  const [value, setValue] = useState<MemberAccess>(() => fieldsOf(stored))
  const id = useId()
  const { isBusy, error, isConflict, save, keepMine, takeTheirs } = useConditionalSave<StoredAccess>({
    stored,
    read: onRead,
    async save(if_updated_at) {
      const saved = await onSave({ brand_ids: [...value.brandIds], permissions: [...value.permissions], if_updated_at })
      onClose()
      return saved
    },
    show: theirs => setValue(fieldsOf(theirs)),
  })
  return (
    <FormDialog onClose={onClose} title={title} submit={strings.save} form={id} isBusy={isBusy}>
      <form
        id={id}
        className="flex flex-col gap-4"
        onSubmit={event => {
          event.preventDefault()
          void save()
        }}
      >
        {isConflict && <ConflictNotice onKeep={keepMine} onTake={takeTheirs} />}
        <AccessFields brands={brands} value={value} onValue={setValue} />
        {error !== null && <Refusal error={error} />}
      </form>
    </FormDialog>
  )
}
