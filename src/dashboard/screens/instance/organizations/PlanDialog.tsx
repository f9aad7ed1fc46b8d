import { useQueryClient } from '@tanstack/react-query'
import { answer, app } from '../../../api/client.ts'
import { ApiError } from '../../../api/errors.ts'
import { Button } from '../../../components/actions/Button.tsx'
import { ConflictNotice } from '../../../components/conflict/ConflictNotice.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { Dialog } from '../../../components/overlays/Dialog.tsx'
import { showToast } from '../../../components/overlays/toasts.ts'
import { strings as shared } from '../../../components/strings.ts'
import { useAction } from '../../../hooks/action.ts'
import type { Organization } from './organization.ts'
import { organizationStrings as strings } from './strings.ts'

interface PlanDialogProps {
  /** As it was when the plan was chosen. */
  readonly organization: Organization
  readonly plan: Organization['plan']
  readonly onClose: () => void
}

/** Moves an organization to another plan, unless another operator has changed it meanwhile. */
export function PlanDialog({ organization: { id, name, updated_at }, plan, onClose }: PlanDialogProps) {
  const queryClient = useQueryClient()
  const { isBusy, error, run } = useAction()
  const isConflict = error instanceof ApiError && error.code === 'changed_since_read'
  const finish = async () => {
    await queryClient.invalidateQueries({ queryKey: ['instance', 'organizations'] })
    onClose()
  }
  const move = (condition: { if_updated_at?: string }) =>
    run(async () => {
      const body = { plan, ...condition }
      await answer(app.POST('/app/api/instance/organizations/{id}/plan', { params: { path: { id } }, body }))
      showToast(strings.moved)
      await finish()
    })
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={strings.movePlan(name, plan)}
      width="small"
      footer={
        <>
          <Button onClick={onClose}>{shared.cancel}</Button>
          <Button kind="primary" isBusy={isBusy} onClick={() => void move({ if_updated_at: updated_at })}>
            {strings.moveTo(plan)}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4 text-muted">
        {isConflict && (
          <ConflictNotice
            hint={strings.planConflictHint}
            keepLabel={strings.moveAllTheSame}
            takeLabel={strings.leavePlan}
            onKeep={() => move({})}
            onTake={finish}
          />
        )}
        <div>{strings.movePlanHint}</div>
        {error !== null && !isConflict && <Refusal error={error} />}
      </div>
    </Dialog>
  )
}
