import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, app } from '../../../api/client.ts'
import { errorOf } from '../../../api/errors.ts'
import type { operations } from '../../../api/generated/app.ts'
import { Button } from '../../../components/actions/Button.tsx'
import { ConflictNotice } from '../../../components/conflict/ConflictNotice.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { Select } from '../../../components/fields/Select.tsx'
import { TextInput } from '../../../components/fields/TextInput.tsx'
import { Dialog } from '../../../components/overlays/Dialog.tsx'
import { showToast } from '../../../components/overlays/toasts.ts'
import { strings as shared } from '../../../components/strings.ts'
import { useConditionalSave } from '../../../hooks/conditional-save.ts'
import type { InstanceRetentionPolicy } from './retention-policy.ts'
import { storageStrings as strings } from './strings.ts'

type Change = NonNullable<operations['setInstanceRetention']['requestBody']>['content']['application/json']

type SetPolicy = Pick<InstanceRetentionPolicy, 'days' | 'updated_at'>

interface InstanceRetentionDialogProps {
  readonly policy: InstanceRetentionPolicy
  readonly onClose: () => void
}

/** Sets how long a kind is kept. */
export function RetentionDialog({ policy, onClose }: InstanceRetentionDialogProps) {
  const queryClient = useQueryClient()
  const isPolicy = ({ scope, kind }: Pick<InstanceRetentionPolicy, 'scope' | 'kind'>) =>
    scope === policy.scope && kind === policy.kind
  const [keep, setKeep] = useState<Change['keep']>(policy.days === null ? 'forever' : 'days')
  const [days, setDays] = useState(String(policy.days ?? 30))
  const { isBusy, error, isConflict, save, keepMine, takeTheirs } = useConditionalSave<SetPolicy>({
    stored: policy,
    async read() {
      const { data } = await answer(app.GET('/app/api/instance/storage/retention'))
      return data.find(isPolicy) ?? { days: null, updated_at: null }
    },
    async save(updatedAt) {
      try {
        const body: Change = {
          scope: policy.scope,
          kind: policy.kind as Change['kind'],
          keep,
          ...(keep === 'days' && { days: Number(days) }),
          if_updated_at: updatedAt ?? 'never',
        }
        await answer(app.POST('/app/api/instance/storage/retention', { body }))
        showToast(strings.saved)
        onClose()
        return { updated_at: updatedAt }
      } finally {
        void queryClient.invalidateQueries({ queryKey: ['instance', 'storage', 'retention'] })
      }
    },
    show(theirs) {
      // What is set for the instance, or comes with Mailroom, has no date until it is changed.
      const isSet = theirs.updated_at !== null || policy.scope === 'instance'
      setKeep(!isSet ? 'inherit' : theirs.days === null ? 'forever' : 'days')
      if (theirs.days !== null) setDays(String(theirs.days))
    },
  })
  const daysError = errorOf(error, 'days')
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={strings.changeOf(policy.kind.replaceAll('_', ' '))}
      width="small"
      footer={
        <>
          <Button onClick={onClose}>{shared.cancel}</Button>
          <Button kind="primary" isBusy={isBusy} onClick={() => void save()}>
            {strings.set}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {isConflict && <ConflictNotice onKeep={keepMine} onTake={takeTheirs} />}
        <Select
          label={strings.period}
          value={keep}
          onValue={setKeep}
          options={[
            { value: 'days', label: strings.periodDays },
            { value: 'forever', label: strings.periodForever },
            ...(policy.scope === 'instance' ? [] : [{ value: 'inherit' as const, label: strings.periodInherit }]),
          ]}
        />
        {keep === 'days' && (
          <TextInput
            label={strings.daysLabel}
            hint={strings.minimum(policy.minimumDays)}
            error={daysError}
            value={days}
            onValue={setDays}
            inputMode="numeric"
          />
        )}
        {error !== null && !daysError && <Refusal error={error} />}
      </div>
    </Dialog>
  )
}
