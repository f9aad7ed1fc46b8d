import { useState } from 'react'
import { Select } from '../../../components/fields/Select.tsx'
import { Dialog } from '../../../components/overlays/Dialog.tsx'
import { useOrganization } from '../../../hooks/organization.ts'
import { settingStrings as strings } from '../strings.ts'
import { RetentionForm } from './RetentionForm.tsx'
import type { RetentionRow } from './retention.ts'

interface RetentionDialogProps {
  readonly row: RetentionRow
  readonly onClose: () => void
}

/** Sets how long a kind is kept, for the organization or for one brand. */
export function RetentionDialog({ row, onClose }: RetentionDialogProps) {
  const { organization } = useOrganization()
  const [brandId, setBrandId] = useState('')
  return (
    <Dialog isOpen onClose={onClose} title={strings.changeTitle(strings.kinds[row.kind])}>
      <div className="flex flex-col gap-4">
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
        <RetentionForm key={brandId} row={row} brandId={brandId} onClose={onClose} />
      </div>
    </Dialog>
  )
}
