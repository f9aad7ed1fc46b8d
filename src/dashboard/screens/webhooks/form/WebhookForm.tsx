import { useState } from 'react'
import { ApiError } from '../../../api/errors.ts'
import { Choice } from '../../../components/access/Choice.tsx'
import { readableTypes } from '../../../components/events/event-types.ts'
import { TypePicker } from '../../../components/events/TypePicker.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { Select } from '../../../components/fields/Select.tsx'
import { TextInput } from '../../../components/fields/TextInput.tsx'
import { useOrganization } from '../../../hooks/organization.ts'
import { HeaderFields } from './HeaderFields.tsx'
import { MailboxPicker } from './MailboxPicker.tsx'
import { offeredPresets, presetOf, presetTypes, type WebhookPreset } from './presets.ts'
import { formStrings as strings } from './strings.ts'
import type { WebhookFields } from './webhook-fields.ts'

interface WebhookFormProps {
  readonly id: string
  readonly fields: WebhookFields
  readonly onFields: (fields: WebhookFields) => void
  readonly onSubmit: () => void
  /** Of the last try. */
  readonly error: unknown
  /** The endpoint is there already. */
  readonly isChange?: boolean
}

const shownBesideFields = ['url', 'mailbox_ids', 'headers', 'description', 'brand_id']

/** The message of a refusal for a field or for something in it: `mailbox_ids[3]`, `headers.X-Key`. */
function errorIn(error: unknown, field: string): string | null {
  return error instanceof ApiError && error.param?.split(/[.[]/)[0] === field ? error.message : null
}

/** Where events go, and which. */
export function WebhookForm({ id, fields, onFields, onSubmit, error, isChange = false }: WebhookFormProps) {
  const { organization, may } = useOrganization()
  const offered = readableTypes(may)
  const presets = offeredPresets(offered)
  const isLimited = organization.role === 'member'
  const [isOneByOne] = useState(() => presetOf(fields.types, offered) === null)
  const change = (changed: Partial<WebhookFields>) => onFields({ ...fields, ...changed })
  const hasMessages = fields.types.some(type => type.startsWith('message.'))
  const isBeside = shownBesideFields.some(field => errorIn(error, field) !== null)
  return (
    <form
      id={id}
      className="flex flex-col gap-5"
      onSubmit={event => {
        event.preventDefault()
        onSubmit()
      }}
    >
      <TextInput
        label={strings.url}
        hint={strings.urlHint}
        error={errorIn(error, 'url')}
        placeholder="https://example.com/mailroom"
        inputMode="url"
        isCode
        required
        maxLength={2048}
        autoComplete="off"
        value={fields.url}
        onValue={url => change({ url })}
      />
      <div className="flex flex-col gap-2">
        <Choice<WebhookPreset | ''>
          label={strings.types}
          value={presetOf(fields.types, offered) ?? ''}
          onValue={preset => preset && change({ types: presetTypes(preset, offered) })}
          options={presets.map(preset => ({ value: preset, ...strings.presets[preset] }))}
        />
        <details className="rounded-md border border-line px-3 py-2" open={isOneByOne}>
          <summary className="rounded-sm text-sm font-medium">
            {strings.oneByOne}
            <span className="ml-2 font-normal text-faint">{strings.chosen(fields.types.length)}</span>
          </summary>
          <div className="mt-3 mb-1">
            <TypePicker
              label={strings.types}
              offered={offered}
              value={fields.types}
              onValue={types => change({ types })}
            />
          </div>
        </details>
      </div>
      {!isChange && organization.brands.length > 1 && (
        <Select
          label={strings.brand}
          hint={strings.brandHint}
          error={errorIn(error, 'brand_id')}
          value={fields.brandId}
          onValue={brandId => change({ brandId, mailboxIds: [] })}
          options={[
            ...(isLimited ? [] : [{ value: '', label: strings.allBrands }]),
            ...organization.brands.map(brand => ({ value: brand.id, label: brand.name })),
          ]}
        />
      )}
      <details className="rounded-md border border-line px-3 py-2">
        <summary className="rounded-sm text-sm font-medium">{strings.more}</summary>
        <div className="mt-3 mb-1 flex flex-col gap-5">
          <TextInput
            label={strings.description}
            hint={strings.descriptionHint}
            error={errorIn(error, 'description')}
            isOptional
            maxLength={256}
            value={fields.description}
            onValue={description => change({ description })}
          />
          {hasMessages && may('inbox:read') && (
            <MailboxPicker
              brandId={fields.brandId}
              value={fields.mailboxIds}
              onValue={mailboxIds => change({ mailboxIds })}
              error={errorIn(error, 'mailbox_ids')}
            />
          )}
          <HeaderFields
            value={fields.headers}
            onValue={headers => change({ headers })}
            error={errorIn(error, 'headers')}
            isChange={isChange}
          />
        </div>
      </details>
      {error !== null && !isBeside && <Refusal error={error} />}
    </form>
  )
}
