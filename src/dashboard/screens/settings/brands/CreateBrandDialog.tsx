import { useState } from 'react'
import { answer } from '../../../api/client.ts'
import { Dialog } from '../../../components/overlays/Dialog.tsx'
import { useAction } from '../../../hooks/action.ts'
import { useOrganization } from '../../../hooks/organization.ts'
import { settingStrings as strings } from '../strings.ts'
import { BrandForm } from './BrandForm.tsx'
import { useBrandSaved } from './useBrandSaved.ts'

/** Creates a brand. */
export function CreateBrandDialog({ onClose }: { readonly onClose: () => void }) {
  const { wholeApi } = useOrganization()
  const saved = useBrandSaved()
  const [name, setName] = useState('')
  const [typedSlug, setSlug] = useState<string | null>(null)
  const { isBusy, error, run } = useAction()
  const fields = { name, slug: typedSlug ?? slugOf(name) }
  const create = () =>
    run(async () => {
      await answer(wholeApi.v1.POST('/v1/brands', { body: { ...fields, name: name.trim() } }))
      await saved()
      onClose()
    })
  return (
    <Dialog isOpen onClose={onClose} title={strings.createTitle} width="small">
      <BrandForm
        fields={fields}
        onFields={next => {
          setName(next.name)
          if (next.slug !== fields.slug) setSlug(next.slug)
        }}
        onSubmit={() => void create()}
        submitLabel={strings.createBrand}
        isBusy={isBusy}
        error={error}
      />
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
