import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useDeferredValue, useId, useState } from 'react'
import { answer } from '../../../api/client.ts'
import { errorOf } from '../../../api/errors.ts'
import { Choice } from '../../../components/access/Choice.tsx'
import { Button } from '../../../components/actions/Button.tsx'
import { Notice } from '../../../components/feedback/Notice.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { Select } from '../../../components/fields/Select.tsx'
import { TextInput } from '../../../components/fields/TextInput.tsx'
import { Dialog } from '../../../components/overlays/Dialog.tsx'
import { showToast } from '../../../components/overlays/toasts.ts'
import { useAction } from '../../../hooks/action.ts'
import { useOrganization } from '../../../hooks/organization.ts'
import { settingStrings as strings } from '../strings.ts'
import { amountOf, type RetentionRow } from './retention.ts'

type Period = 'forever' | 'days' | 'inherit'

interface RetentionDialogProps {
  readonly row: RetentionRow
  readonly onClose: () => void
}

/** Sets how long a kind is kept. It says what the change would delete before it is made. */
export function RetentionDialog({ row, onClose }: RetentionDialogProps) {
  const { organization, wholeApi } = useOrganization()
  const queryClient = useQueryClient()
  const [brandId, setBrandId] = useState('')
  const [period, setPeriod] = useState<Period>(
    row.set_for === 'instance' ? 'inherit' : row.days === null ? 'forever' : 'days',
  )
  const [count, setCount] = useState(String(row.days ?? Math.max(row.minimum_days, 365)))
  const { isBusy, error, run } = useAction()
  const formId = useId()
  const days = period === 'days' ? Number(count) : period
  const body = { kind: row.kind, days, ...(brandId && { brand_id: brandId }) }
  const isValid = period !== 'days' || (Number.isInteger(days) && Number(days) >= row.minimum_days)
  const asked = useDeferredValue(JSON.stringify(body))
  const preview = useQuery({
    queryKey: ['retention', wholeApi.organizationId, 'preview', asked],
    queryFn: () => answer(wholeApi.app.POST('/app/api/organization/retention/preview', { body: JSON.parse(asked) })),
    enabled: isValid,
    retry: false,
  })
  const amount = preview.data && amountOf(preview.data, row.kind)
  const save = () =>
    run(async () => {
      await answer(wholeApi.app.PUT('/app/api/organization/retention', { body }))
      await queryClient.invalidateQueries({ queryKey: ['retention'] })
      showToast(strings.set)
      onClose()
    })
  const daysError = errorOf(error, 'days')
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={strings.changeTitle(strings.kinds[row.kind])}
      footer={
        <Button type="submit" form={formId} kind={amount ? 'danger' : 'primary'} isBusy={isBusy}>
          {strings.save}
        </Button>
      }
    >
      <form
        id={formId}
        className="flex flex-col gap-4"
        onSubmit={event => {
          event.preventDefault()
          void save()
        }}
      >
        <p className="text-muted">{strings.kindHints[row.kind]}</p>
        {organization.brands.length > 1 && (
          <Select
            label={strings.forBrand}
            value={brandId}
            onValue={setBrandId}
            options={[
              { value: '', label: strings.wholeOrganization },
              ...organization.brands.map(({ id, name }) => ({ value: id, label: name })),
            ]}
          />
        )}
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
      </form>
    </Dialog>
  )
}
