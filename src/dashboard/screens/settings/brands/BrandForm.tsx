import type { ReactNode } from 'react'
import { errorOf } from '../../../api/errors.ts'
import { Button } from '../../../components/actions/Button.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { TextInput } from '../../../components/fields/TextInput.tsx'
import { settingStrings as strings } from '../strings.ts'

/** What is typed about a brand. */
export interface BrandFields {
  readonly name: string
  readonly slug: string
}

interface BrandFormProps {
  readonly fields: BrandFields
  readonly onFields: (fields: BrandFields) => void
  readonly onSubmit: () => void
  readonly submitLabel: string
  readonly isBusy: boolean
  /** Of the last try. */
  readonly error: unknown
  /** Above the fields. */
  readonly notice?: ReactNode
}

/** The name and the slug of a brand. */
export function BrandForm({ fields, onFields, onSubmit, submitLabel, isBusy, error, notice }: BrandFormProps) {
  const shownBeside = errorOf(error, 'name') ?? errorOf(error, 'slug')
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={event => {
        event.preventDefault()
        onSubmit()
      }}
    >
      {notice}
      <TextInput
        label={strings.brandName}
        error={errorOf(error, 'name')}
        value={fields.name}
        onValue={name => onFields({ ...fields, name })}
        required
        maxLength={120}
        autoComplete="off"
      />
      <TextInput
        label={strings.slug}
        hint={strings.slugHint}
        error={errorOf(error, 'slug')}
        value={fields.slug}
        onValue={slug => onFields({ ...fields, slug })}
        isCode
        required
        maxLength={63}
        autoComplete="off"
      />
      {error !== null && !shownBeside && <Refusal error={error} />}
      <Button type="submit" kind="primary" isBusy={isBusy} className="self-end">
        {submitLabel}
      </Button>
    </form>
  )
}
