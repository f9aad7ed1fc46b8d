import { useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { answer } from '../../api/client.ts'
import { errorOf } from '../../api/errors.ts'
import { Choice } from '../../components/access/Choice.tsx'
import { ScopePicker } from '../../components/access/ScopePicker.tsx'
import { allScopes, isPermissionScope, type Scope } from '../../components/access/scopes.ts'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { Select } from '../../components/fields/Select.tsx'
import { TextInput } from '../../components/fields/TextInput.tsx'
import { FormDialog } from '../../components/overlays/FormDialog.tsx'
import { ResultDialog } from '../../components/overlays/ResultDialog.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { CreatedKeyView } from './CreatedKeyView.tsx'
import { offeredPresets, type PresetName, presetOf, presetScopes } from './presets.ts'
import { keyStrings as strings } from './strings.ts'

const dayMs = 86_400_000
const expiryDays = { never: null, month: 30, quarter: 90, year: 365 } as const
type Expiry = keyof typeof expiryDays

interface CreateKeyDialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** Creates a key, and shows it once. */
export function CreateKeyDialog({ isOpen, onClose }: CreateKeyDialogProps) {
  return isOpen ? <OpenCreateKeyDialog onClose={onClose} /> : null
}

interface CreatedKeyState {
  readonly key: string
  readonly scopes: readonly Scope[]
  readonly brandId: string | null
}

function OpenCreateKeyDialog({ onClose }: { readonly onClose: () => void }) {
  const [created, setCreated] = useState<CreatedKeyState | null>(null)
  const [isBusy, setBusy] = useState(false)
  const formId = useId()
  if (created)
    return (
      <ResultDialog onClose={onClose} title={strings.createdTitle} done={strings.done}>
        <CreatedKeyView apiKey={created.key} scopes={created.scopes} brandId={created.brandId} />
      </ResultDialog>
    )
  return (
    <FormDialog onClose={onClose} title={strings.dialogTitle} submit={strings.create} form={formId} isBusy={isBusy}>
      <KeyForm id={formId} onBusy={setBusy} onCreated={setCreated} />
    </FormDialog>
  )
}

interface KeyFormProps {
  readonly id: string
  readonly onBusy: (isBusy: boolean) => void
  readonly onCreated: (created: CreatedKeyState) => void
}

function KeyForm({ id, onBusy, onCreated }: KeyFormProps) {
  const { organization, wholeApi, brand, may } = useOrganization()
  const queryClient = useQueryClient()
  const isLimited = organization.role === 'member'
  const [brandId, setBrandId] = useState(brand?.id ?? (isLimited ? (organization.brands[0]?.id ?? '') : ''))
  const offered = allScopes.filter(scope => (isPermissionScope(scope) ? may(scope) : !isLimited && brandId === ''))
  const presets = offeredPresets(offered)
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState<readonly Scope[]>(() => presetScopes(presets[0] ?? 'send', offered))
  const [expiry, setExpiry] = useState<Expiry>('never')
  const [error, setError] = useState<unknown>(null)
  const scopes = chosen.filter(scope => offered.includes(scope))

  const submit = async () => {
    onBusy(true)
    setError(null)
    try {
      const days = expiryDays[expiry]
      const body = {
        name,
        scopes: [...scopes],
        ...(brandId && { brand_id: brandId }),
        ...(days !== null && { expires_at: new Date(Date.now() + days * dayMs).toISOString() }),
      }
      const { key } = await answer(wholeApi.app.POST('/app/api/keys', { body }))
      void queryClient.invalidateQueries({ queryKey: ['keys'] })
      onCreated({ key, scopes, brandId: brandId || null })
    } catch (thrown) {
      setError(thrown)
    } finally {
      onBusy(false)
    }
  }

  const nameError = errorOf(error, 'name')
  return (
    <form
      id={id}
      className="flex flex-col gap-5"
      onSubmit={event => {
        event.preventDefault()
        void submit()
      }}
    >
      <TextInput
        label={strings.nameLabel}
        hint={strings.nameHint}
        placeholder={strings.namePlaceholder}
        error={nameError}
        value={name}
        onValue={setName}
        required
        maxLength={120}
        autoComplete="off"
      />
      <div className="flex flex-col gap-2">
        <Choice<PresetName | ''>
          label={strings.preset}
          value={presetOf(scopes, offered) ?? ''}
          onValue={preset => preset && setChosen(presetScopes(preset, offered))}
          options={presets.map(preset => ({ value: preset, ...strings.presets[preset] }))}
        />
        <details className="rounded-md border border-line px-3 py-2">
          <summary className="rounded-sm text-sm font-medium">
            {strings.fine}
            <span className="ml-2 font-normal text-faint">{strings.chosen(scopes.length)}</span>
          </summary>
          <div className="mt-3 mb-1">
            <ScopePicker label={strings.preset} offered={offered} value={scopes} onValue={setChosen} />
          </div>
        </details>
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        <Select
          label={strings.brand}
          hint={strings.brandHint}
          error={errorOf(error, 'brand_id')}
          value={brandId}
          onValue={setBrandId}
          options={[
            ...(isLimited ? [] : [{ value: '', label: strings.wholeOrganization }]),
            ...organization.brands.map(({ id, name }) => ({ value: id, label: name })),
          ]}
        />
        <Select<Expiry>
          label={strings.expiry}
          value={expiry}
          onValue={setExpiry}
          options={(Object.keys(expiryDays) as Expiry[]).map(value => ({ value, label: strings.expiries[value] }))}
        />
      </div>
      {error !== null && !nameError && <Refusal error={error} />}
    </form>
  )
}
