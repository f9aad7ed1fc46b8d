import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer } from '../../../api/client.ts'
import { errorOf } from '../../../api/errors.ts'
import { sessionQuery } from '../../../api/session.ts'
import { Button } from '../../../components/actions/Button.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { TextInput } from '../../../components/fields/TextInput.tsx'
import { Dialog } from '../../../components/overlays/Dialog.tsx'
import { showToast } from '../../../components/overlays/toasts.ts'
import { useAction } from '../../../hooks/action.ts'
import { useOrganization } from '../../../hooks/organization.ts'
import { settingStrings as strings } from '../strings.ts'
import type { Brand } from './brand.ts'

interface BrandDialogProps {
  /** null: a new one. */
  readonly brand: Brand | null
  readonly onClose: () => void
}

/** Creates a brand, or changes its name and slug. */
export function BrandDialog({ brand, onClose }: BrandDialogProps) {
  const { wholeApi } = useOrganization()
  const queryClient = useQueryClient()
  const [name, setName] = useState(brand?.name ?? '')
  const [typedSlug, setSlug] = useState(brand?.slug ?? null)
  const { isBusy, error, run } = useAction()
  const slug = typedSlug ?? slugOf(name)
  const save = () =>
    run(async () => {
      const body = { name: name.trim(), slug }
      if (brand) await answer(wholeApi.v1.PATCH('/v1/brands/{id}', { params: { path: { id: brand.id } }, body }))
      else await answer(wholeApi.v1.POST('/v1/brands', { body }))
      await queryClient.invalidateQueries({ queryKey: ['brands'] })
      void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })
      showToast(strings.saved)
      onClose()
    })
  const shownBeside = errorOf(error, 'name') ?? errorOf(error, 'slug')
  return (
    <Dialog isOpen onClose={onClose} title={brand ? strings.editTitle : strings.createTitle} width="small">
      <form
        className="flex flex-col gap-4"
        onSubmit={event => {
          event.preventDefault()
          void save()
        }}
      >
        <TextInput
          label={strings.brandName}
          error={errorOf(error, 'name')}
          value={name}
          onValue={setName}
          required
          maxLength={120}
          autoComplete="off"
        />
        <TextInput
          label={strings.slug}
          hint={strings.slugHint}
          error={errorOf(error, 'slug')}
          value={slug}
          onValue={setSlug}
          isCode
          required
          maxLength={63}
          autoComplete="off"
        />
        {error !== null && !shownBeside && <Refusal error={error} />}
        <Button type="submit" kind="primary" isBusy={isBusy} className="self-end">
          {brand ? strings.save : strings.createBrand}
        </Button>
      </form>
    </Dialog>
  )
}

/** A slug made of a name, until one is typed. */
function slugOf(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 63)
}
