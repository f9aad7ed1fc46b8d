import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { answer } from '../../../api/client.ts'
import { errorOf } from '../../../api/errors.ts'
import { Choice } from '../../../components/access/Choice.tsx'
import { Button } from '../../../components/actions/Button.tsx'
import { ConflictNotice } from '../../../components/conflict/ConflictNotice.tsx'
import { Notice } from '../../../components/feedback/Notice.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { TextInput } from '../../../components/fields/TextInput.tsx'
import { showToast } from '../../../components/overlays/toasts.ts'
import { useConditionalSave } from '../../../hooks/conditional-save.ts'
import { useOrganization } from '../../../hooks/organization.ts'
import { settingStrings as strings } from '../strings.ts'
import { amountOf, type RetentionRow, type SetRetention, setRetentionOf } from './retention.ts'

type Period = 'forever' | 'days' | 'inherit'

interface RetentionFormProps {
  readonly row: RetentionRow
  /** The brand that it is set for; empty: the organization. */
  readonly brandId: string
  readonly onClose: () => void
}

/** How long a kind is kept. It says what the change would delete before it is made. */
export function RetentionForm({ row, brandId, onClose }: RetentionFormProps) {
  const { wholeApi } = useOrganization()
  const queryClient = useQueryClient()
  const stored = setRetentionOf(row, brandId)
  const [period, setPeriod] = useState(() => periodOf(stored))
  const [count, setCount] = useState(() => String(stored.days ?? row.days ?? Math.max(row.minimum_days, 365)))
  const days = period === 'days' ? Number(count) : period
  const body = { kind: row.kind, days, ...(brandId && { brand_id: brandId }) }
  const isValid = period !== 'days' || (Number.isInteger(days) && Number(days) >= row.minimum_days)
  const previewed = useDeferredValue(JSON.stringify(body))
  const preview = useQuery({
    queryKey: ['retention', wholeApi.organizationId, 'preview', previewed],
    queryFn: () =>
      answer(wholeApi.app.POST('/app/api/organization/retention/preview', { body: JSON.parse(previewed) })),
    enabled: isValid,
    retry: false,
  })
  const amount = preview.data && amountOf(preview.data, row.kind)
  const find = ({ data }: { readonly data: readonly RetentionRow[] }) =>
    setRetentionOf(data.find(({ kind }) => kind === row.kind) ?? row, brandId)
  const { isBusy, error, isConflict, save, keepMine, takeTheirs } = useConditionalSave<SetRetention>({
    stored,
    read: async () => find(await answer(wholeApi.app.GET('/app/api/organization/retention'))),
    async save(updatedAt) {
      const if_updated_at = updatedAt ?? 'never'
      const saved = await answer(
        wholeApi.app.PUT('/app/api/organization/retention', { body: { ...body, if_updated_at } }),
      )
      await queryClient.invalidateQueries({ queryKey: ['retention'] })
      showToast(strings.set)
      onClose()
      return find(saved)
    },
    show(theirs) {
      setPeriod(periodOf(theirs))
      if (theirs.days !== null) setCount(String(theirs.days))
    },
  })
  const daysError = errorOf(error, 'days')
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={event => {
        event.preventDefault()
        void save()
      }}
    >
      {isConflict && <ConflictNotice onKeep={keepMine} onTake={takeTheirs} />}
      <Choice<Period>
        label={strings.howLong}
        value={period}
        onValue={setPeriod}
        options={[
          { value: 'forever', label: strings.forever, hint: strings.foreverHint },
          { value: 'days', label: strings.number, hint: strings.numberHint },
          {
            value: 'inherit',
            label: brandId ? strings.inheritBrand : strings.inherit,
            hint: strings.inheritHint(strings.days(brandId ? row.days : row.instance_days)),
          },
        ]}
      />
      {period === 'days' && (
        <TextInput
          label={strings.dayCount}
          hint={strings.atLeastDays(row.minimum_days)}
          error={daysError}
          type="number"
          inputMode="numeric"
          min={row.minimum_days}
          max={36_500}
          step={1}
          required
          value={count}
          onValue={setCount}
        />
      )}
      <div role="status">
        {isValid && preview.isPending && <p className="text-sm text-muted">{strings.counting}</p>}
        {preview.data &&
          (amount ? (
            <Notice tone="warn" title={strings.deletesNow(amount)} />
          ) : (
            <p className="text-sm text-muted">{strings.deletesNothing}</p>
          ))}
      </div>
      {preview.error && <Refusal error={preview.error} />}
      {error !== null && !daysError && <Refusal error={error} />}
      <Button type="submit" kind={amount ? 'danger' : 'primary'} isBusy={isBusy} className="self-end">
        {strings.save}
      </Button>
    </form>
  )
}

function periodOf({ days, updated_at: updatedAt }: SetRetention): Period {
  if (updatedAt === null) return 'inherit'
  return days === null ? 'forever' : 'days'
}
