import { errorOf } from '../../../../api/errors.ts'
import { mailStrings as strings } from '../../strings.ts'
import type { DraftFields } from '../draft-fields.ts'
import { RecipientField } from './RecipientField.tsx'

interface CopyFieldsProps {
  readonly fields: Pick<DraftFields, 'cc' | 'bcc'>
  readonly onChange: (changed: Partial<Pick<DraftFields, 'cc' | 'bcc'>>) => void
  /** Of the sending; null: there was none. */
  readonly error: unknown
}

/** Who gets a copy: Cc and Bcc. */
export function CopyFields({ fields, onChange, error }: CopyFieldsProps) {
  return (
    <>
      <RecipientField
        label={strings.cc}
        value={fields.cc}
        onValue={cc => onChange({ cc })}
        error={errorOf(error, 'cc')}
      />
      <RecipientField
        label={strings.bcc}
        value={fields.bcc}
        onValue={bcc => onChange({ bcc })}
        error={errorOf(error, 'bcc')}
      />
    </>
  )
}
