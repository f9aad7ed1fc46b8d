import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { answer } from '../../api/client.ts'
import { errorOf } from '../../api/errors.ts'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { Select } from '../../components/fields/Select.tsx'
import { TextInput } from '../../components/fields/TextInput.tsx'
import { FormDialog } from '../../components/overlays/FormDialog.tsx'
import { useAction } from '../../hooks/action.ts'
import { useOrganization } from '../../hooks/organization.ts'
import { starters, templateStrings as strings } from './strings.ts'

interface CreateTemplateDialogProps {
  /** A starter's key; `blank`: nothing; null: the dialog is closed. */
  readonly starter: string | null
  readonly onClose: () => void
}

/** Names a new template, and opens it in the editor. */
export function CreateTemplateDialog({ starter, onClose }: CreateTemplateDialogProps) {
  return starter === null ? null : <OpenCreateTemplateDialog starter={starter} onClose={onClose} />
}

const formId = 'new-template'

function OpenCreateTemplateDialog({ starter, onClose }: { readonly starter: string; readonly onClose: () => void }) {
  const { api, organization, brand } = useOrganization()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const [key, setKey] = useState(starter)
  const model = starters.find(candidate => candidate.key === key)
  const [name, setName] = useState(model?.name ?? '')
  const [slug, setSlug] = useState(model?.key ?? '')
  const [brandId, setBrandId] = useState(brand?.id ?? organization.brands[0]?.id ?? '')
  const { isBusy, error, run } = useAction()
  const create = () =>
    run(async () => {
      const created = await answer(
        api.v1.POST('/v1/templates', {
          body: {
            slug,
            ...(brandId !== '' && { brand_id: brandId }),
            ...(name.trim() !== '' && { name: name.trim() }),
            ...(model && {
              subject: model.subject,
              html: model.html,
              text: model.text,
              variables: model.variables.map(variable => ({ ...variable })),
            }),
          },
        }),
      )
      await queryClient.invalidateQueries({ queryKey: ['templates'] })
      await navigate({
        to: '/$organization/templates/$slug',
        params: { organization: organization.id, slug: created.slug },
        search: { brand: created.brand_id },
      })
    })
  const choose = (chosen: string) => {
    const next = starters.find(candidate => candidate.key === chosen)
    setKey(chosen)
    setName(next?.name ?? '')
    setSlug(next?.key ?? '')
  }
  const fieldErrors = { name: errorOf(error, 'name'), slug: errorOf(error, 'slug') }
  return (
    <FormDialog
      onClose={onClose}
      title={strings.create}
      submit={strings.create}
      form={formId}
      isBusy={isBusy}
      hasCancel
    >
      <form
        id={formId}
        className="flex flex-col gap-4"
        onSubmit={event => {
          event.preventDefault()
          void create()
        }}
      >
        <Select
          label={strings.from}
          value={key}
          onValue={choose}
          options={[
            { value: 'blank', label: strings.blank },
            ...starters.map(({ key, name }) => ({ value: key, label: name })),
          ]}
        />
        <TextInput label={strings.name} value={name} onValue={setName} error={fieldErrors.name} maxLength={120} />
        <TextInput
          label={strings.slug}
          hint={strings.slugHint}
          isCode
          required
          value={slug}
          onValue={setSlug}
          error={fieldErrors.slug}
        />
        {organization.brands.length > 1 && (
          <Select
            label={strings.brand}
            value={brandId}
            onValue={setBrandId}
            options={organization.brands.map(({ id, name }) => ({ value: id, label: name }))}
          />
        )}
        {error !== null && !fieldErrors.name && !fieldErrors.slug && <Refusal error={error} />}
      </form>
    </FormDialog>
  )
}
