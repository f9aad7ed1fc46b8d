import { useId, useState } from 'react'
import type { BrandOfSession } from '../../api/session.ts'
import { AccessFields, type MemberAccess } from '../../components/access/AccessFields.tsx'
import { Button } from '../../components/actions/Button.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { Dialog } from '../../components/overlays/Dialog.tsx'
import { useAction } from '../../hooks/action.ts'
import { peopleStrings as strings } from './strings.ts'

interface AccessDialogProps {
  readonly title: string
  readonly brands: readonly BrandOfSession[]
  readonly access: MemberAccess
  readonly onClose: () => void
  /** Saves it. The dialog stays open, with the refusal, when it fails. */
  readonly onSave: (access: MemberAccess) => Promise<unknown>
}

/** Changes what a member, or whoever accepts an invitation, may do. */
export function AccessDialog({ title, brands, access, onClose, onSave }: AccessDialogProps) {
  const [value, setValue] = useState(access)
  const { isBusy, error, run } = useAction()
  const id = useId()
  const save = () =>
    run(async () => {
      await onSave(value)
      onClose()
    })
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={title}
      footer={
        <Button type="submit" form={id} kind="primary" isBusy={isBusy}>
          {strings.save}
        </Button>
      }
    >
      <form
        id={id}
        className="flex flex-col gap-4"
        onSubmit={event => {
          event.preventDefault()
          void save()
        }}
      >
        <AccessFields brands={brands} value={value} onValue={setValue} />
        {error !== null && <Refusal error={error} />}
      </form>
    </Dialog>
  )
}
