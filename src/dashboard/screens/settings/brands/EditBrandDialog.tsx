import { useState } from 'react'
import { answer } from '../../../api/client.ts'
import { ConflictNotice } from '../../../components/conflict/ConflictNotice.tsx'
import { Dialog } from '../../../components/overlays/Dialog.tsx'
import { useConditionalSave } from '../../../hooks/conditional-save.ts'
import { useOrganization } from '../../../hooks/organization.ts'
import { settingStrings as strings } from '../strings.ts'
import { BrandForm } from './BrandForm.tsx'
import type { Brand } from './brand.ts'
import { useBrandSaved } from './useBrandSaved.ts'

/** Changes the name and the slug of a brand. */
export function EditBrandDialog({ brand, onClose }: { readonly brand: Brand; readonly onClose: () => void }) {
  const { wholeApi } = useOrganization()
  const showSaved = useBrandSaved()
  const [fields, setFields] = useState({ name: brand.name, slug: brand.slug })
  const params = { path: { id: brand.id } }
  const { isBusy, error, isConflict, save, keepMine, takeTheirs } = useConditionalSave<Brand>({
    stored: brand,
    read: () => answer(wholeApi.v1.GET('/v1/brands/{id}', { params })),
    async save(if_updated_at) {
      const body = { ...fields, name: fields.name.trim(), if_updated_at }
      const saved = await answer(wholeApi.v1.PATCH('/v1/brands/{id}', { params, body }))
      await showSaved()
      onClose()
      return saved
    },
    show: theirs => setFields({ name: theirs.name, slug: theirs.slug }),
  })
  return (
    <Dialog isOpen onClose={onClose} title={strings.editTitle} width="small">
      <BrandForm
        fields={fields}
        onFields={setFields}
        onSubmit={() => void save()}
        submitLabel={strings.save}
        isBusy={isBusy}
        error={error}
        notice={isConflict && <ConflictNotice onKeep={keepMine} onTake={takeTheirs} />}
      />
    </Dialog>
  )
}
